"""The exercises: the only place where the library's kernels meet the grader."""

import ast
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from grpo_ref.course.contents import EXERCISES, NOTEBOOKS, OURS, source_of
from grpo_ref.course.layout import problem_file
from grpo_ref.course.right_answers import right_answers
from grpo_ref.course.source import BrokenPackage
from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.course.grading.problem import Problem


@cache
def _problem(name: str) -> "Problem":
    """Return the `PROBLEM` of the exercise's module, completed from the table of contents."""
    problem, listed = _declared(name), EXERCISES[name]
    return replace(
        problem,
        difficulty=listed.difficulty,
        points=listed.points,
        notebook=NOTEBOOKS.get(listed.chapter, ""),
        right_answers=partial(right_answers, problem),
    )


def _declared(name: str) -> "Problem":
    """Return the `PROBLEM` of the module. Mistakes in another package are reported as that package's
    mistakes.

    Raises:
      BrokenPackage: if the module cannot be imported, or declares no such exercise.
    """
    source = source_of(name)
    try:
        problem: Problem = import_module(f"{source.package}.problems.{name.replace('/', '.')}").PROBLEM
        if problem.id != name:
            raise ValueError(f"the module of {name} holds the exercise {problem.id}")
    except Exception as error:
        if source is OURS:
            raise
        raise BrokenPackage(
            f"the package of exercises {source.package!r} has a fault: {problem_file(name)}:"
            f" {type(error).__name__}: {error}"
        ) from error
    return problem


PROBLEMS: "LazyListing[Problem]" = LazyListing("exercise", EXERCISES, _problem)
"""Every exercise by id, in the order of the course. Its module is imported when it is requested."""


def hints_of(name: str) -> tuple[str, ...]:
    """Return the hints of an exercise, read from the text of its module.

    Importing the module, with its checks and wrong answers, needs NumPy and takes many times as long.
    """
    tree = ast.parse(problem_file(name).read_text(encoding="utf-8"))
    written = (node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "hints")
    hints: tuple[str, ...] = ast.literal_eval(next(written))
    return hints
