"""A source of exercises: a package that says which chapters it has. Ours is one, an instructor's another.

Each is laid out like our checkout. In the package, `problems/CHAPTER/NAME.py` declares an exercise, and
`chapters/CHAPTER.md` is the text of a chapter's page. In the checkout around it, `solutions` has the model
answers and `tests/course/styles` the right answers in other styles; a package that is installed brings these
two along, in `solutions` and `styles`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ID = re.compile(r"[a-z0-9_]+/[a-z][a-z0-9_]*")
DIFFICULTIES = ("easy", "medium", "hard")


class BrokenPackage(Exception):
    """A package of exercises cannot be used; the message names it and says why."""


class Exercise(NamedTuple):
    """One line of a table of contents.

    Attributes:
      id: "chapter/name", also the path of its files.
      difficulty: "easy", "medium" or "hard".
      points: what it counts.
    """

    id: str
    difficulty: str
    points: int

    @property
    def chapter(self) -> str:
        """The first part of the id, a key of `CHAPTERS`."""
        return self.id.split("/")[0]

    @property
    def name(self) -> str:
        """The last part of the id."""
        return self.id.split("/")[1]


@dataclass(frozen=True)
class Source:
    """The table of contents of one package; it is read without the exercises themselves.

    Attributes:
      package: the name by which it is imported.
      folder: where it lies.
      chapters: in order, folder name -> title.
      exercises: in order.
      notebooks: chapter -> the notebook of ours that shows its idea at work.
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
        """The package's folder, seen from its checkout."""
        return Path(*self.package.split("."))

    @property
    def checkout(self) -> Path:
        """The folder around the package, where its checkout is if it is no installed copy."""
        return self.folder.parents[len(self.path.parts) - 1]

    @property
    def ids(self) -> list[str]:
        """The ids of its exercises, in order."""
        return [exercise.id for exercise in self.exercises]
