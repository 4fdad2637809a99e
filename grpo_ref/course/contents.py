"""The table of contents: the chapters and exercises in the order of the course, with their points.

grpo_ref's own exercises come first, then those of packages, which are searched when the table is first used.
No exercise is imported here, so that the course can be listed quickly. The exercises themselves are in
`exercises`; each one is imported when it is requested by its id.
"""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.packages import named_in, packages
from grpo_ref.course.source import BrokenPackage, Exercise, Source
from grpo_ref.listing import LateMapping

CHECKOUTS: list[Path] = []
"""Folders whose packages are part of the course in this process, whether they are installed or not."""

OURS = Source("grpo_ref.course", Path(__file__).parent)
"""The exercises of grpo_ref itself."""


class Course(NamedTuple):
    """The exercises of all sources together.

    Attributes:
      sources: grpo_ref itself first, then the packages.
      chapters: folder name -> title, in order.
      exercises: exercises by id, in order.
      notebooks: chapter -> notebook that demonstrates its idea; not every chapter has one.
    """

    sources: tuple[Source, ...]
    chapters: Mapping[str, str]
    exercises: Mapping[str, Exercise]
    notebooks: Mapping[str, str]


@cache
def course() -> Course:
    """Search for packages, once, and combine all sources.

    Raises:
      BrokenPackage: if a package cannot be read, or uses a name that is taken.
    """
    sources = (OURS, *packages(CHECKOUTS))
    _require_names_of_their_own(sources)
    return Course(
        sources,
        {chapter: title for source in sources for chapter, title in source.chapters.items()},
        {exercise.id: exercise for source in sources for exercise in source.exercises},
        {chapter: notebook for source in sources for chapter, notebook in source.notebooks.items()},
    )


def _require_names_of_their_own(sources: tuple[Source, ...]) -> None:
    """Check that no two sources have the same chapter, or exercises with the same last part of the id.

    Submitted files are identified by this last part.
    """
    owners: dict[str, str] = {}
    for source in sources:
        chapters = [f"chapter {chapter!r}" for chapter in source.chapters]
        for thing in (*chapters, *(f"exercise {exercise.name!r}" for exercise in source.exercises)):
            if thing in owners:
                raise BrokenPackage(
                    f"the package of exercises {source.package!r} has the {thing}, and so has"
                    f" {owners[thing]!r}: rename it, or uninstall one of the two"
                )
            owners[thing] = source.package


CHAPTERS = LateMapping(lambda: course().chapters)
"""The chapters in order: folder name -> title."""
EXERCISES = LateMapping(lambda: course().exercises)
"""Every exercise by id, in the order of the course."""
NOTEBOOKS = LateMapping(lambda: course().notebooks)
"""Chapter -> notebook that demonstrates its idea; a package's chapter may have none."""


def source_of(name: str) -> Source:
    """Return the source of a chapter, or of an exercise by its chapter; grpo_ref itself if the chapter is
    unknown.
    """
    chapter = name.split("/")[0]
    return next((source for source in course().sources if chapter in source.chapters), OURS)


def source_at(root: Path) -> Source:
    """Return the source whose checkout a folder is: its own package, or grpo_ref itself if it has none.

    From then on, the package is part of the course in this process, whether it is installed or not.

    Raises:
      BrokenPackage: if the package cannot be read.
    """
    root = root.resolve()
    if not named_in(root):
        return OURS
    if root not in CHECKOUTS:
        CHECKOUTS.append(root)
        sys.path.insert(0, str(root))
        course.cache_clear()
    for source in course().sources:
        if source.checkout.resolve() == root:
            return source
    raise BrokenPackage(f"{root / 'pyproject.toml'} names a package that does not lie beside it")


def exercise_called(name: str) -> str:
    """Return the id of the exercise with this id, or with this last part of its id; "" if there is none.

    >>> exercise_called("k3"), exercise_called("kl/k3"), exercise_called("k4")
    ('kl/k3', 'kl/k3', '')
    """
    return next((each.id for each in EXERCISES.values() if name in (each.id, each.name)), "")


def exercises_in(chapter: str) -> list[Exercise]:
    """Return the exercises of a chapter, in order."""
    return [exercise for exercise in EXERCISES.values() if exercise.chapter == chapter]
