"""The kill matrix: which check catches which wrong answer."""

from grpo_ref.grading.grade import grade
from grpo_ref.grading.problem import Problem

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

    Every number of the reference is made larger by a third of rtol, and by three times rtol.
    """
    inside, outside = (
        grade(problem, lambda *a, _by=by, **k: _scaled(problem.reference(*a, **k), 1.0 + _by * problem.rtol))
        for by in (1 / 3, 3.0)
    )
    return inside.status == "passed", outside.status == "failed"


def _scaled(value: object, factor: float) -> object:
    if isinstance(value, tuple):
        return tuple(_scaled(item, factor) for item in value)
    if isinstance(value, dict):
        return {name: _scaled(item, factor) for name, item in value.items()}
    return value * factor  # type: ignore[operator]
