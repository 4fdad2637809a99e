"""A source of exercises: a package that lists its chapters. grpo_ref is one; an instructor's package is
another.

Each source has the layout of grpo_ref's checkout. In the package, `problems/CHAPTER/NAME.py` declares an
exercise, and `chapters/CHAPTER.md` is the text of a chapter's page. In the checkout around it, `solutions`
has the model answers and `tests/course/styles` the right answers in other styles. An installed package
contains these two as `solutions` and `styles`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ID = re.compile(r"[a-z0-9_]+/[a-z][a-z0-9_]*")
DIFFICULTIES = ("easy", "medium", "hard")


class BrokenPackage(Exception):
    """A package of exercises cannot be used. The message names it and gives the reason."""


class Exercise(NamedTuple):
    """One line of a table of contents.

    Attributes:
      id: "chapter/name", also the path of its files.
      difficulty: "easy", "medium" or "hard".
      points: number of points.
    """

    id: str
    difficulty: str
    points: int

    @property
    def chapter(self) -> str:
        """First part of the id, a key of `CHAPTERS`."""
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        """Last part of the id."""
        return self.id.split("/")[1]


@dataclass(frozen=True)
class Source:
    """The table of contents of one package. It can be read without the exercises themselves.

    Attributes:
      package: name by which the package is imported.
      folder: folder of the package.
      chapters: folder name -> title, in order.
      exercises: the exercises, in order.
      notebooks: chapter -> notebook of grpo_ref that demonstrates its idea.
    """

    package: str
    folder: Path
    chapters: Mapping[str, str]
    exercises: Sequence[Exercise]
    notebooks: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for id, difficulty, points in self.exercises:
            if not ID.fullmatch(id) or id.split("/")[0] not in self.chapters:
                chapters = ", ".join(self.chapters) or "none"
                raise ValueError(f"expected CHAPTER/NAME with one of its chapters ({chapters}), got {id!r}")
            if difficulty not in DIFFICULTIES or not isinstance(points, int) or points < 1:
                raise ValueError(
                    f"{id}: expected one of {', '.join(DIFFICULTIES)} and whole points of at least 1,"
                    f" got {difficulty!r} and {points!r}"
                )

    @property
    def path(self) -> Path:
        """Path of the package's folder inside its checkout."""
        return Path(*self.package.split("."))

    @property
    def checkout(self) -> Path:
        """Folder around the package: its checkout, unless the package is an installed copy."""
        return self.folder.parents[len(self.path.parts) - 1]

    @property
    def ids(self) -> list[str]:
        """Ids of the exercises, in order."""
        return [exercise.id for exercise in self.exercises]
