"""Exercises as text: whole statements, and starters cut out of model answers."""

import pytest
from little_exercise import EXERCISE

from grpo_ref.course.contents import HINTS
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.statement import starter, statement

EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


@EACH
def test_the_statement_is_whole(problem):
    text = statement(problem)
    for part in ("Background", "Problem", "Input", "Output", "Source"):
        assert f"## {part}\n" in text
    assert max(map(len, text.splitlines())) <= 110
    assert len(problem.hints) == HINTS
    assert all(mutant.tell for mutant in problem.mutants)
    assert len({check.name for check in problem.checks}) == len(problem.checks)


def test_prose_is_as_wide_as_is_asked_for():
    text = statement(PROBLEMS["advantages/centered"], width=60)
    prose = [line for line in text.splitlines() if line[:4] not in ("    ", "Chec")]
    assert 50 < max(map(len, prose)) <= 60
    assert text.split() == statement(PROBLEMS["advantages/centered"]).split()


ANSWER = '''"""Model answer: mean of the rows."""

import numpy as np


def mean_row(rows):
    """The mean."""
    # solution
    return np.asarray(rows).mean(0)
    # end
'''


def test_a_starter_is_the_statement_and_the_answer_without_its_solution():
    text = starter(EXERCISE, ANSWER)
    assert text.startswith('"""Mean of the rows  (easy, 4 points)\n\n## Examples')
    assert "mean_row([[1.0, 2.0], [3.0, 6.0]])\n    -> [2, 4]\n\n(1+3)/2 and (2+6)/2" in text
    assert text.endswith('    """The mean."""\n    raise NotImplementedError("tests/mean_row")\n')


def test_a_program_to_be_mended_is_put_in_the_place_of_the_solution():
    text = starter(EXERCISE, ANSWER.replace("    # end", "    # instead: return rows\n    # end"))
    assert text.endswith('    """The mean."""\n    return rows\n')
    assert "NotImplementedError" not in text


@pytest.mark.parametrize("answer", ["def mean_row(rows): ...", ANSWER.replace("# solution", "")])
def test_a_model_answer_without_its_marks_is_refused(answer):
    with pytest.raises(
        ValueError, match="a model answer begins with a docstring and has a line '# solution'"
    ):
        starter(EXERCISE, answer)
