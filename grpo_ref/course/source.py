"""A source of exercises: a package with a folder `exercises`. grpo_ref is one; an instructor's package is
another.

The folder has a table of contents and one folder for each chapter:

    exercises/contents.toml            the chapters and exercises, in order
    exercises/CHAPTER/chapter.md       the text of the chapter's page, and in Chinese: chapter.zh.md
    exercises/CHAPTER/picture.png      the picture of that page, if there is one
    exercises/CHAPTER/NAME/            one exercise, with everything that belongs to it

Reading a source needs neither NumPy nor the modules of the exercises, so that the course is listed quickly.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.course.statement_file import Statement, Translation, read_statement, read_translation

ID = re.compile(r"[a-z0-9_]+/[a-z][a-z0-9_]*")
CONTENTS = "contents.toml"


class BrokenPackage(Exception):
    """A package of exercises cannot be used. The message names it and gives the reason."""


class Exercise(NamedTuple):
    """One line of a table of contents.

    Attributes:
      id: "chapter/name", also the path of its folder.
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
    """The table of contents of one package. A package without `contents.toml` has no exercises.

    Attributes:
      package: name by which the package is imported.
      folder: folder of the package.
    """

    package: str
    folder: Path

    @cached_property
    def _chapters(self) -> Mapping[str, Any]:
        path = self.folder / "exercises" / CONTENTS
        if not path.is_file():
            return {}
        chapters = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, chapter in chapters.items():
            is_table = isinstance(chapter, dict) and isinstance(chapter.get("exercises"), list)
            if not is_table or not isinstance(chapter.get("title"), str):
                raise ValueError(f"{path}: expected a title and a list of exercises in [{name}]")
            for exercise in chapter["exercises"]:
                if not ID.fullmatch(f"{name}/{exercise}"):
                    raise ValueError(
                        f"{path}: expected names of small letters, digits and underscores, got {exercise!r}"
                    )
        return chapters

    @cached_property
    def chapters(self) -> Mapping[str, str]:
        """Folder name of each chapter -> title, in order."""
        return {name: chapter["title"] for name, chapter in self._chapters.items()}

    @cached_property
    def notebooks(self) -> Mapping[str, str]:
        """Chapter -> notebook of grpo_ref that demonstrates its idea. A chapter need not have one."""
        return {name: each["notebook"] for name, each in self._chapters.items() if each.get("notebook")}

    @cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises, in order."""
        statements = {name: self.statement(name) for name in self.ids}
        return tuple(Exercise(name, each.difficulty, each.points) for name, each in statements.items())

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the exercises, in order."""
        return [f"{name}/{each}" for name, chapter in self._chapters.items() for each in chapter["exercises"]]

    def statement(self, name: str) -> Statement:
        """Return the statement of an exercise."""
        return read_statement(self.folder / "exercises" / name / "statement.md")

    def translation(self, name: str, language: str) -> Translation | None:
        """Return the statement of an exercise in another language; None if it is not translated."""
        path = self.folder / "exercises" / name / f"statement.{language}.md"
        return read_translation(path) if path.is_file() else None

    @property
    def path(self) -> Path:
        """Path of the package's folder, relative to its checkout."""
        return Path(*self.package.split("."))

    @property
    def checkout(self) -> Path:
        """Folder around the package: its checkout, unless the package is an installed copy."""
        return self.folder.parents[len(self.path.parts) - 1]
