"""The kill matrix: which check catches which wrong answer."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Check, Function, Problem
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.submission import Direct

Matrix = dict[str, tuple[str, ...]]


def kill_matrix(problem: Problem) -> Matrix:
    """Name of each mutant -> names of the checks that fail it."""
    return {
        mutant.name: tuple(check.name for check in problem.checks if _fails(check, problem, mutant.function))
        for mutant in problem.mutants
    }


def _fails(check: Check, problem: Problem, function: Function) -> bool:
    """Whether a check fails a wrong answer; what the check cannot take, it fails as well."""
    try:
        check.run(Direct(function), problem, DEFAULT_SEED)
    except Exception:
        return True
    return False


def near_misses(problem: Problem) -> tuple[bool, bool]:
    """Whether an answer just inside the tolerance passes, and one just outside it fails.

    Every number of the reference is made larger by a third of rtol, then by three times. Truth values have
    no near miss and are left alone; an exercise that asks for nothing else has no tolerance to prove.
    """
    scaled = []

    def answer(factor: float) -> Function:
        def near(*arguments: Any, **keywords: Any) -> Any:
            value = problem.reference(*arguments, **keywords)
            scaled.append(_has_numbers(value))
            return _scaled(value, factor)

        return near

    factors = (1.0 + problem.rtol / 3.0, 1.0 + problem.rtol * 3.0)
    inside, outside = (grade(problem, answer(factor)).status for factor in factors)
    return inside == "passed", outside == "failed" or not any(scaled)


def _scaled(value: Any, factor: float) -> Any:
    """Every number of a value times the factor; text and truth values are left alone."""
    if isinstance(value, tuple):
        return tuple(_scaled(item, factor) for item in value)
    if isinstance(value, dict):
        return {name: _scaled(item, factor) for name, item in value.items()}
    return value * factor if _has_numbers(value) else value


def _has_numbers(value: Any) -> bool:
    if isinstance(value, tuple | dict):
        return any(map(_has_numbers, value.values() if isinstance(value, dict) else value))
    return np.asarray(value).dtype.kind in "iuf"
