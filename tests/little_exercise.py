"""An exercise that is no part of the course, for the tests of the grader: the mean of the rows."""

import numpy as np

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Case, Drawn, Mutant, Problem, Raises, Unchanged
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.sandbox import Sandbox


def mean_row(rows):
    """The right answer of the little exercise below."""
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2:
        raise ValueError("rows must have two axes")
    return rows.mean(0)


EXERCISE = Problem(
    id="tests/mean_row",
    title="Mean of the rows",
    function="mean_row",
    reference=mean_row,
    points=4,
    seconds=1.0,
    signature="mean_row(rows)",
    text=(
        "## Your task\n\nReturn the mean.\n\n## Examples\n\n    >>> mean_row([[1, 2], [3, 6]])\n    [2, 4]\n"
    ),
    source="a lecture",
    checks=(
        Case(
            "Two rows",
            ([[1.0, 2.0], [3.0, 6.0]],),
            np.array([2.0, 4.0]),
            why="(1+3)/2 and (2+6)/2",
            shown=True,
        ),
        Drawn("Random rows", lambda rng, size: (rng.normal(size=(size + 1, size)),), why="any shape will do"),
        Raises("One axis is refused", (([1.0, 2.0],),), why="a vector has no rows"),
        Unchanged((np.ones((2, 3)),)),
    ),
    mutants=(
        Mutant(
            "mean of the columns", lambda rows: np.asarray(rows).mean(1), "This is the mean along each row."
        ),
        Mutant("sum", lambda rows: np.asarray(rows).sum(0), "This is the sum, not the mean."),
    ),
)
RIGHT = """
import numpy as np

def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2:
        raise ValueError("rows must have two axes")
    return rows.mean(0)
"""


def judge(folder, text, make_room=Process):
    """The report on a file with the given text, written into the folder."""
    path = folder / "mean_row.py"
    path.write_text(text)
    with Sandbox(path, make_room=make_room) as sandbox:
        return grade(EXERCISE, sandbox)
