"""The exercises: the only place where the library's kernels meet the grader."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from grpo_ref.course.contents import EXERCISES

if TYPE_CHECKING:
    from grpo_ref.course.grading.problem import Problem


class _Problems(Mapping[str, "Problem"]):
    """Every exercise by id, in the order of the course; its module is imported when it is asked for."""

    def __getitem__(self, name: str) -> "Problem":
        if name not in EXERCISES:
            raise KeyError(name)
        return _problem(name)

    def __iter__(self) -> Iterator[str]:
        return iter(EXERCISES)

    def __len__(self) -> int:
        return len(EXERCISES)


@cache
def _problem(name: str) -> "Problem":
    """`PROBLEM` of the module that the id names, with difficulty and points from the table of contents."""
    problem: Problem = import_module(f"{__name__}.{name.replace('/', '.')}").PROBLEM
    if problem.id != name:
        raise ValueError(f"the module of {name} holds the exercise {problem.id}")
    listed = EXERCISES[name]
    return replace(problem, difficulty=listed.difficulty, points=listed.points)


PROBLEMS: Mapping[str, "Problem"] = _Problems()
"""Every exercise by id, in the order of the course."""
