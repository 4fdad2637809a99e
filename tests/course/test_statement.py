"""Exercises as text: whole statements, and starters cut out of model answers."""

import pytest

from grpo_ref.course.contents import HINTS
from grpo_ref.course.grading.statement import statement
from grpo_ref.course.problems import PROBLEMS

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
