"""Tables of the results of attacks, read from the data files."""

import json
from collections.abc import Iterable

from grpo_ref.course.attack.data_files import file_of_cases
from grpo_ref.course.attack.run import Outcome
from grpo_ref.course.grading.problem import Problem, format_call

COLUMNS = {
    "right answers": "right answers",
    "made": "wrong answers made",
    "caught by hidden cases": "caught by hidden cases",
    "caught by drawn inputs only": "by drawn inputs only",
    "caught by the author's checks only": "by the author's checks only",
    "left, equal to rounding": "left, equal to rounding",
    "left, within the tolerance": "left, within the tolerance",
    "cases": "cases",
}
"""Key of a count in a data file -> heading of its column."""


def table(problems: Iterable[Problem]) -> str:
    """Return a Markdown table with a row for each attacked exercise, and their sum."""
    rows = []
    for problem in problems:
        path = file_of_cases(problem)
        if path.is_file():
            data = json.loads(path.read_text(encoding="utf-8"))
            counts = [data["counts"][key] for key in COLUMNS]
            rows.append((problem.id, *counts, data["search"]["fit to judge by"]))
    total = ("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:]))
    headings = ("exercise", *COLUMNS.values(), "inputs tried")
    rule = ("---", *["---:"] * (len(headings) - 1))
    return "\n".join(
        f"| {' | '.join(map(str, row))} |" for row in (headings, rule, *rows, *[total] * bool(rows))
    )


def first_caught_by(problem: Problem) -> dict[str, int]:
    """Return, for each check, the number of wrong answers that it catches first. Hidden cases count before
    other checks.
    """
    data = json.loads(file_of_cases(problem).read_text(encoding="utf-8"))
    names = {kind: each["name"] for kind, each in data["kinds"].items()}
    hidden = {names[kind]: int(count) for kind, count in data["first caught by"].items()}
    return hidden | {name: int(count) for name, count in data["caught only by"].items()}


def unfit(outcome: Outcome) -> str:
    """List the reasons why inputs were not fit to judge by, each with its first input."""
    function = outcome.problem.function
    return "\n".join(
        f"  {len(draws)} times: {reason}, as on"
        f" {format_call(function, draws[0].arguments, draws[0].keywords)}"
        for reason, draws in outcome.unfit.items()
    )
