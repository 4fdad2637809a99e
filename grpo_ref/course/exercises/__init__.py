"""The exercises: the only place where the library's kernels meet the grader. README.md describes the files."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grpo_ref.course.contents import EXERCISES, NOTEBOOKS, OURS, source_of
from grpo_ref.course.layout import exercise_folder
from grpo_ref.course.right_answers import right_answers
from grpo_ref.course.source import BrokenPackage
from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.course.grading.problem import Problem

SAMPLED = 24
"""Number of random inputs, unless the tests of an exercise set another `SAMPLED`."""


@cache
def _problem(name: str) -> "Problem":
    """Read the files of an exercise. Mistakes in another package are reported as that package's mistakes.

    Raises:
      BrokenPackage: if a file of another package cannot be read or imported.
    """
    source = source_of(name)
    try:
        return _read(name, f"{source.package}.exercises.{name.replace('/', '.')}")
    except Exception as error:
        if source is OURS:
            raise
        raise BrokenPackage(
            f"the package of exercises {source.package!r} has a fault: {exercise_folder(name)}:"
            f" {type(error).__name__}: {error}"
        ) from error


def _read(name: str, package: str) -> "Problem":
    # Listing the course imports this package and has to be quick; only the grader needs NumPy.
    from grpo_ref.course.grading.found_cases import found_cases
    from grpo_ref.course.grading.problem import Problem, changing_inputs
    from grpo_ref.course.grading.sampled_check import FromDomain

    folder, chapter = exercise_folder(name), EXERCISES[name].chapter
    statement = source_of(name).statement(name)
    tests: Any = import_module(f"{package}.tests")
    wrong: Any = import_module(f"{package}.wrong")
    return Problem(
        id=name,
        title=statement.title,
        function=statement.function,
        signature=statement.signature,
        reference=tests.reference,
        checks=(*tests.CHECKS, FromDomain(count=getattr(tests, "SAMPLED", SAMPLED)), *found_cases(folder)),
        mutants=(changing_inputs(tests.reference), *wrong.WRONG),
        hints=statement.hints,
        text=statement.text,
        source=statement.source,
        kernel=statement.library,
        picture=statement.picture,
        derivation=statement.derivation,
        recipe=statement.recipe,
        claim=statement.claim,
        notebook=NOTEBOOKS.get(chapter, ""),
        difficulty=statement.difficulty,
        points=statement.points,
        rtol=getattr(tests, "RTOL", Problem.rtol),
        domain=tests.DOMAIN,
        right_answers=lambda: right_answers(PROBLEMS[name]),
    )


PROBLEMS: "LazyListing[Problem]" = LazyListing("exercise", EXERCISES, _problem)
"""Every exercise by id, in the order of the course. Its modules are imported when it is requested."""


def hints_of(name: str, language: str = "en") -> tuple[str, ...]:
    """Return the hints of an exercise, in a language if they are translated. Nothing is imported for them."""
    return (source_of(name).translation(name, language) or source_of(name).statement(name)).hints


def translated(problem: "Problem", language: str) -> "Problem":
    """Return an exercise with its statement in another language; in English if it is not translated."""
    translation = source_of(problem.id).translation(problem.id, language)
    return problem if translation is None else replace(problem, language=language, **translation._asdict())
