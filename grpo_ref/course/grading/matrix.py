"""The kill matrix: which check catches which wrong answer."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Function, Problem

Matrix = dict[str, tuple[str, ...]]


def kill_matrix(problem: Problem) -> Matrix:
    """Name of each mutant -> names of the checks that fail it."""
    return {
        mutant.name: tuple(
            result.name for result in grade(problem, mutant.function).results if not result.passed
        )
        for mutant in problem.mutants
    }


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
