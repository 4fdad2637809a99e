"""What there is to do for a class: who is graded, who was graded before, and the files about it."""

import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from grpo_ref.course import classroom
from grpo_ref.course.classroom import Graded, HandedIn, Pile
from grpo_ref.files import replace_text
from grpo_ref.frontends.class_formats import FORMATS, canvas, in_gradebook
from grpo_ref.frontends.class_results import MARKS, ClassResults, file_name

CANVAS = "canvas.csv"
NOTHING, STRANGER = "nothing was handed in", "is not on the roster"


@dataclass
class ClassWork:
    """A class and its results.

    Attributes:
      piles: student -> what was handed in, not read yet.
      results: the folder of the results.
      about: student -> the row of the roster without the first column.
      has_roster: whether there is a roster.
      names: ids of the exercises that count.
      seed: of the class.
      is_safe: whether the answers run in WebAssembly.
    """

    piles: Mapping[str, Pile]
    results: ClassResults
    about: Mapping[str, dict[str, Any]]
    has_roster: bool
    names: Sequence[str]
    seed: int
    is_safe: bool
    keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        submissions: Path,
        out: Path,
        roster: Path | None,
        names: Sequence[str],
        *,
        seed: int,
        is_safe: bool,
    ) -> Self:
        """Read who handed in what, and who should have.

        Raises:
          classroom.Unreadable: if the submissions cannot be read.
          ValueError: if the roster is none.
          OSError: if the results cannot be written.
        """
        found = {pile.student: pile for pile in classroom.piles(submissions)}
        listed = read_roster(roster) if roster is not None else {}
        about: dict[str, dict[str, Any]] = {}
        for student, row in listed.items():
            name = _as_handed_in(student, row, found)
            about[student if name in about else name] = row
        piles = {student: found.get(student) or Pile(student, ()) for student in sorted({*found, *about})}
        return cls(piles, ClassResults(out), about, roster is not None, names, seed, is_safe)

    @property
    def students(self) -> list[str]:
        """Everybody, each once."""
        return list(self.piles)

    @property
    def counted(self) -> str:
        """How many there are, in words."""
        return counted(len(self.piles))

    def left(self) -> Iterator[str]:
        """Those whose result is not there, or not of what they handed in now."""
        for student in self.students:
            if not self.results.is_done(student, self._key(self._read(student))):
                yield student

    def graded(self, students: Sequence[str], workers: int, scheduler: str | None) -> Iterator[Graded]:
        """Grade these, and keep each one's result."""
        handed_in = (self._read(student) for student in students)
        for graded in classroom.grade_class(
            handed_in,
            self.names,
            seed=self.seed,
            is_safe=self.is_safe,
            workers=workers,
            scheduler=scheduler,
        ):
            self.results.write(graded, self.keys[graded.student])
            yield graded

    def write_marks(self) -> None:
        """Write the table of all that were graded."""
        self.results.write_marks(self.students, self.names, self.about)

    def write_formats(self, names: Sequence[str]) -> None:
        """Write every student's result in formats of other programs, a folder for each."""
        for name in names:
            folder = self.results.folder / name
            folder.mkdir(exist_ok=True)
            for student in self.students:
                if result := self.results.read(student):
                    for suffix, render in FORMATS[name].items():
                        replace_text(folder / f"{file_name(student)}{suffix}", render(result))

    def write_canvas(self, gradebook: Path, column: str) -> list[str]:
        """Fill in an exported gradebook; those who have points and no row in it.

        A student may be named there by any cell of the roster, or by the number at the end of the name.

        Raises:
          ValueError: if it is no gradebook, or has no such column.
        """
        text, points = gradebook.read_text(encoding="utf-8-sig"), {}
        for student in self.students:
            total = self.results.read(student).get("points", 0.0)
            others = [str(cell) for cell in self.about.get(student, {}).values() if cell]
            names = [student, student.rpartition("_")[2], *others]
            points[next((name for name in names if in_gradebook(text, name)), student)] = total
        filled, left = canvas(text, column, points)
        replace_text(self.results.folder / CANVAS, filled)
        return left

    def told(self) -> str:
        """The class in two lines."""
        points = [float(self.results.read(student).get("points", 0.0)) for student in self.students]
        of = max((self.results.read(student).get("of", 0) for student in self.students), default=0)
        return (
            f"{counted(len(points))}, {statistics.mean(points):.1f} of {of} points on average, the median"
            f" {statistics.median(points):.1f}\nmarks: {self.results.folder / MARKS}"
        )

    def _read(self, student: str) -> HandedIn:
        read = self.piles[student].read()
        notes = read.notes
        if not self.piles[student].files:
            notes = (NOTHING, *notes)
        if self.has_roster and student not in self.about:
            notes = (STRANGER, *notes)
        read = HandedIn(student, read.answers, notes)
        self.keys[student] = self._key(read)
        return read

    def _key(self, handed_in: HandedIn) -> str:
        return classroom.key_of(handed_in, self.names, seed=self.seed, is_safe=self.is_safe)


def read_roster(path: Path) -> dict[str, dict[str, Any]]:
    """Student -> the other columns of the row.

    Raises:
      ValueError: if it is no CSV file with a header, or names somebody twice or not at all.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no CSV file in UTF-8: {error}") from error
    found: dict[str, dict[str, Any]] = {}
    for line, row in enumerate(rows, start=2):
        first, *others = row
        student = (row[first] or "").strip()
        if not student or None in row:
            raise ValueError(
                f"{path}, line {line}: expected a cell for each column, the student's name first"
            )
        if student in found:
            raise ValueError(f"{path}, line {line}: {student} is there twice")
        found[student] = {column: row[column] for column in others if column not in RESERVED}
    return found


RESERVED = frozenset(("student", "points", "of", "solved", "official", "notes"))
"""Columns of the table of marks; those of a roster with these names are left out."""


def _as_handed_in(student: str, row: Mapping[str, Any], found: Mapping[str, Pile]) -> str:
    """The name that somebody of the roster handed in under: that, any cell, or a number at the end of it."""
    known = {str(cell).strip().casefold() for cell in (student, *row.values()) if cell}
    same = [name for name in found if name.casefold() in known]
    numbered = [name for name in found if name.rpartition("_")[2] in known and "_" in name]
    return next(iter(same or numbered), student)


def counted(number: int) -> str:
    """So many students.

    >>> counted(1), counted(2)
    ('1 student', '2 students')
    """
    return f"{number} student{'s' * (number != 1)}"
