"""The work on a class: who is graded now, who was graded before, and the files with the results."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from grpo_ref.course import classroom
from grpo_ref.course.classroom import (
    Alike,
    CourseFile,
    Delivery,
    Ended,
    Override,
    Pile,
    comparable,
    in_own_process,
)
from grpo_ref.course.classroom.class_record import Row, all_notes, marked, record_of, tests_gave, with_marks
from grpo_ref.course.classroom.class_results import MARKS, ClassResults, file_name
from grpo_ref.course.classroom.nbgrader import nbgrader
from grpo_ref.course.classroom.roster import matched, read_roster, submitted_of
from grpo_ref.course.rendering.class_formats import FORMATS, canvas, read_gradebook
from grpo_ref.files import replace_text

CANVAS, OVERRIDES, NBGRADER, REPORT = "canvas.csv", "overrides.toml", "nbgrader.csv", "report.html"
COMPARISON, COMPARISON_EACH = 60.0, 4.0
"""Wall-clock time for comparing all answers, in seconds, and the part of it for each student."""
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
        names = matched(about, found.values())
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
            found = self._called(each.student)
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
            key = self._key(self._fetch(student))
            is_whole = {each["id"] for each in record.get("exercises", ())} == set(self.course.exercises)
            if record.get("key") != key or not is_whole:
                yield student

    def graded(self, students: Sequence[str], workers: int, scheduler: str | None) -> Iterator[Row]:
        """Grade these students, and store each one's record."""
        deliveries = (self._fetch(student) for student in students)
        for graded in classroom.grade_class(
            deliveries,
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

    def write_report(self) -> list[str]:
        """Write the web page on the class. For it, the answers are compared with one another.

        Return the students who are not compared, because their answers could not be read in time.
        """
        from grpo_ref.course.rendering.class_report import class_report

        records = self._records()
        answers: dict[str, dict[str, bytes]] = {}
        pairs: list[Alike] | None = None
        for student in (name for name, record in records.items() if record["exercises"]):
            with suppress(Ended):
                answers[student] = in_own_process(comparable, self.piles[student].fetch())
        try:
            seconds = COMPARISON + COMPARISON_EACH * len(answers)
            pairs = in_own_process(classroom.alike_pairs, answers, seconds=seconds)
        except Ended:
            answers = {}
        results = [{**record, "notes": all_notes(record)} for record in records.values()]
        replace_text(self.results.folder / REPORT, class_report(results, pairs))
        return sorted(records.keys() - answers.keys())

    def write_canvas(self, gradebook: Path, column: str) -> list[str]:
        """Fill in an exported gradebook. Return the students who have points but no row of their own in it.

        The platform's number decides which row is a student's, else a name in the roster. Without a roster
        it is the student's name.

        Raises:
          ValueError: if the file is not a gradebook, has no such column, or has two rows for a student.
        """
        points = {student: self.results.read(student).get("points", 0.0) for student in self.students}
        names = {
            student: self.piles[student].numbers if self._is_stranger(student) else self._names(student)
            for student in self.students
        }
        filled, left = canvas(read_gradebook(gradebook), column, points, names)
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

    def _called(self, name: str) -> list[str]:
        """Return the students with this name. Strangers do not count if somebody on the roster has it."""
        named = [student for student in self.piles if name in self._names(student)]
        return [student for student in named if not self._is_stranger(student)] or named

    def _is_stranger(self, student: str) -> bool:
        return bool(self.about) and student not in self.about

    def _names(self, student: str) -> list[str]:
        """Return all names of a student, the most reliable first."""
        pile = self.piles[student]
        cells = [cell for cell in self._cells(student) if self._counted_cells[cell] == 1]
        return [*pile.numbers, student, *cells, *pile.aliases]

    def _cells(self, student: str) -> list[str]:
        return [str(cell) for cell in self.about.get(student, {}).values() if cell]

    @cached_property
    def _counted_cells(self) -> Counter[str]:
        return Counter(cell for student in self.about for cell in self._cells(student))

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

    def _fetch(self, student: str) -> Delivery:
        delivery = self.piles[student].fetch()
        notes = delivery.notes
        if not delivery.files and not notes:
            notes = (NOTHING,)
        if self._is_stranger(student):
            notes = (STRANGER, *notes)
        delivery = replace(delivery, notes=notes)
        self.keys[student] = self._key(delivery)
        return delivery

    def _key(self, delivery: Delivery) -> str:
        return classroom.key_of(delivery, self.course.exercises, seed=self.seed, is_safe=self.is_safe)


def counted(number: int) -> str:
    """Format a number of students.

    >>> counted(1), counted(2)
    ('1 student', '2 students')
    """
    return f"{number} student{'s' * (number != 1)}"
