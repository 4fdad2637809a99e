"""The kill matrix: the checks that catch each wrong answer."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Check, Function, Problem
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.submission import Direct

Matrix = dict[str, tuple[str, ...]]


def kill_matrix(problem: Problem) -> Matrix:
    """Return, for the name of each mutant, the names of the checks that fail it."""
    return {
        mutant.name: tuple(check.name for check in problem.checks if _fails(check, problem, mutant.function))
        for mutant in problem.mutants
    }


def _fails(check: Check, problem: Problem, function: Function) -> bool:
    """Return whether a check fails a wrong answer. An exception inside the check counts as a failure."""
    try:
        check.run(Direct(function), problem, DEFAULT_SEED)
    except Exception:
        return True
    return False


def near_misses(problem: Problem) -> tuple[bool, bool]:
    """Return whether an answer just inside the tolerance passes, and whether one just outside it fails.

    Every number of the reference is made larger by a third of rtol, and then by three times rtol. Truth
    values are left alone, because they have no near miss. An exercise that returns nothing else has no
    tolerance to test.
    """
    scaled = []

    def answer(factor: float) -> Function:
        def near(*arguments: Any, **keywords: Any) -> Any:
            value = problem.reference(*arguments, **keywords)
            scaled.append(_has_numbers(value))
            return _scaled(value, factor)

        return near

    factors = (1.0 + problem.rtol / 3.0, 1.0 + problem.rtol * 3.0)
    inside, outside = (grade(problem, answer(factor), explain=False).status for factor in factors)
    return inside == "passed", outside == "failed" or not any(scaled)


def _scaled(value: Any, factor: float) -> Any:
    """Multiply every number of a value by the factor; leave text and truth values alone."""
    if isinstance(value, tuple):
        return tuple(_scaled(item, factor) for item in value)
    if isinstance(value, dict):
        return {name: _scaled(item, factor) for name, item in value.items()}
    return value * factor if _has_numbers(value) else value


def _has_numbers(value: Any) -> bool:
    if isinstance(value, tuple | dict):
        return any(map(_has_numbers, value.values() if isinstance(value, dict) else value))
    return np.asarray(value).dtype.kind in "iuf"
