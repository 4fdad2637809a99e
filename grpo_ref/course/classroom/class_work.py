"""The work on a class: who is graded now, who was graded before, and the files with the results."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from grpo_ref.course import classroom
from grpo_ref.course.classroom import CourseFile, HandedIn, Override, Pile
from grpo_ref.course.classroom.class_record import Row, all_notes, marked, record_of, tests_gave, with_marks
from grpo_ref.course.classroom.class_results import MARKS, ClassResults, file_name
from grpo_ref.course.classroom.nbgrader import nbgrader
from grpo_ref.course.classroom.roster import matched, read_roster, submitted_of
from grpo_ref.course.rendering.class_formats import FORMATS, canvas, in_gradebook, read_gradebook
from grpo_ref.files import replace_text

CANVAS, OVERRIDES, NBGRADER, REPORT = "canvas.csv", "overrides.toml", "nbgrader.csv", "report.html"
NOTHING, STRANGER = "nothing was handed in", "is not on the roster"


@dataclass
class ClassWork:
    """A class and its results.

    Attributes:
      piles: student -> the submitted files, not read yet.
      results: the folder with the results.
      about: student -> the row of the roster without its first column.
      course: the exercises that count, and the rules for marks.
      seed: seed of the class.
      is_safe: whether the answers run in WebAssembly.
      overrides: student -> the instructor's decisions.
      keys: student -> a text that changes with anything that the result depends on; filled when the answers
        are read.
    """

    piles: Mapping[str, Pile]
    results: ClassResults
    about: Mapping[str, dict[str, Any]]
    course: CourseFile
    seed: int
    is_safe: bool
    overrides: dict[str, list[Override]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        submissions: Path,
        out: Path,
        roster: Path | None,
        course: CourseFile,
        *,
        seed: int,
        is_safe: bool,
    ) -> Self:
        """Read the submissions and the roster.

        Raises:
          classroom.Unreadable: if the submissions cannot be read.
          ValueError: if the roster is not a valid roster.
          OSError: if the results cannot be written.
        """
        found = {pile.student: pile for pile in classroom.piles(submissions, out)}
        about = read_roster(roster) if roster is not None else {}
        names = matched(about, {name: pile.aliases for name, pile in found.items()})
        for student, name in names.items():
            pile = found.pop(name)
            found[student] = replace(pile, student=student, aliases=(name, *pile.aliases))
        piles = {student: found.get(student) or Pile(student, ()) for student in sorted({*found, *about})}
        return cls(piles, ClassResults(out), about, course, seed, is_safe)

    @property
    def students(self) -> list[str]:
        """The names of all students."""
        return list(self.piles)

    @property
    def counted(self) -> str:
        """The number of students, in words."""
        return counted(len(self.piles))

    def decide(self, path: Path | None) -> int:
        """Read the instructor's decisions and copy them to the results folder. Return their number.

        Args:
          path: path of the file; if None, the copy from the last time is read.

        Raises:
          ValueError: if the file has a mistake, or names a person who is not in this class.
          OSError: if it cannot be read.
        """
        kept = self.results.folder / OVERRIDES
        path = path if path is not None else kept if kept.is_file() else None
        if path is None:
            return 0
        decisions = classroom.read_overrides(path, self.course)
        for each in decisions:
            found = [name for name in self.piles if each.student in self._names(name)]
            if len(found) != 1:
                who = f"{' and '.join(found)} are" if found else "no student of this class is"
                raise ValueError(f"{path}, line {each.line}: {who} called {each.student!r}")
            self.overrides.setdefault(found[0], []).append(each)
        if path != kept:
            replace_text(kept, path.read_text(encoding="utf-8"))
        return len(decisions)

    def left(self) -> Iterator[str]:
        """Yield the students who have no result for their current submission."""
        for student in self.students:
            record = self.results.read(student)
            key = self._key(self._read(student))
            is_whole = {each["id"] for each in record.get("exercises", ())} == set(self.course.exercises)
            if record.get("key") != key or not is_whole:
                yield student

    def graded(self, students: Sequence[str], workers: int, scheduler: str | None) -> Iterator[Row]:
        """Grade these students, and store each one's record."""
        handed_in = (self._read(student) for student in students)
        for graded in classroom.grade_class(
            handed_in,
            self.course.exercises,
            seed=self.seed,
            is_safe=self.is_safe,
            workers=workers,
            scheduler=scheduler,
        ):
            yield self._keep(record_of(graded, self.keys[graded.student]))

    def write_marks(self) -> None:
        """Compute all marks by the current rules and decisions, and write the table of marks."""
        for record in self._records().values():
            self._keep(record)
        self.results.write_marks(self.students, self.course, self.about)

    def write_formats(self, names: Iterable[str]) -> None:
        """Write every student's result in formats of other programs, one folder for each format."""
        for name in names:
            folder = self.results.folder / name
            folder.mkdir(exist_ok=True)
            for student, record in self._records().items():
                for suffix, render in FORMATS[name].items():
                    replace_text(folder / f"{file_name(student)}{suffix}", render(marked(record)))

    def write_nbgrader(self) -> None:
        """Write the marks in the columns of `nbgrader export`."""
        text = nbgrader(self._records().values(), self.course, self.about)
        replace_text(self.results.folder / NBGRADER, text)

    def write_report(self) -> None:
        """Write the web page on the class. For it, the answers are compared with one another."""
        from grpo_ref.course.rendering.class_report import class_report

        answers = {student: pile.read().answers for student, pile in self.piles.items()}
        results = [{**record, "notes": all_notes(record)} for record in self._records().values()]
        page = class_report(results, classroom.alike_pairs(answers))
        replace_text(self.results.folder / REPORT, page)

    def write_canvas(self, gradebook: Path, column: str) -> list[str]:
        """Fill in an exported gradebook. Return the students who have points but no row in it.

        The gradebook may name a student by any cell of the roster, or by the number at the end of the name.

        Raises:
          ValueError: if the file is not a gradebook, or has no such column.
        """
        text, points = read_gradebook(gradebook), {}
        for student in self.students:
            total = self.results.read(student).get("points", 0.0)
            points[next((name for name in self._names(student) if in_gradebook(text, name)), student)] = total
        filled, left = canvas(text, column, points)
        replace_text(self.results.folder / CANVAS, filled)
        return left

    def others(self) -> list[str]:
        """Return the result files of persons who are not in this class, such as those of earlier names. They
        are kept.
        """
        ours = {self.results.path(student).name for student in self.students}
        return sorted(path.name for path in self.results.students.glob("*.json") if path.name not in ours)

    def summary(self) -> str:
        """Summarize the class in two lines."""
        points = [float(self.results.read(student).get("points", 0.0)) for student in self.students]
        of = sum(map(self.course.points_of, self.course.exercises))
        return (
            f"{counted(len(points))}, {statistics.mean(points):.1f} of {of:g} points on average, the median"
            f" {statistics.median(points):.1f}\nmarks: {self.results.folder / MARKS}"
        )

    def _records(self) -> dict[str, Row]:
        """Return the records of all students who have one."""
        return {student: found for student in self.students if (found := self.results.read(student))}

    def _names(self, student: str) -> list[str]:
        """Return all names of a student: here, in the download and in the roster."""
        cells = [str(cell) for cell in self.about.get(student, {}).values() if cell]
        aliases = self.piles[student].aliases
        ends = [name.rpartition("_")[2] for name in (student, *aliases)]
        return [student, *aliases, *ends, *cells]

    def _keep(self, record: Row) -> Row:
        """Compute the marks of a record, write the record with them, and return it."""
        student = record["student"]
        submitted = self._submitted(student)
        marks = classroom.marks_of(
            tests_gave(record, self.course.exercises), self.course, self.overrides.get(student, ()), submitted
        )
        record = with_marks(record, marks, submitted)
        self.results.write(record)
        return record

    def _submitted(self, student: str) -> datetime | None:
        """Return the time of the submission, from the roster, or else from the download."""
        return submitted_of(self.about.get(student, {})) or self.piles[student].submitted

    def _read(self, student: str) -> HandedIn:
        read = self.piles[student].read()
        notes = read.notes
        if not self.piles[student].files:
            notes = (NOTHING, *notes)
        if self.about and student not in self.about:
            notes = (STRANGER, *notes)
        read = HandedIn(student, read.answers, notes)
        self.keys[student] = self._key(read)
        return read

    def _key(self, handed_in: HandedIn) -> str:
        return classroom.key_of(handed_in, self.course.exercises, seed=self.seed, is_safe=self.is_safe)


def counted(number: int) -> str:
    """Format a number of students.

    >>> counted(1), counted(2)
    ('1 student', '2 students')
    """
    return f"{number} student{'s' * (number != 1)}"
