"""The results of a class as files: one for each student as soon as it is there, and the marks of all."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from grpo_ref.course.classroom import CourseFile
from grpo_ref.course.classroom.class_record import VERSION, Row, all_notes, marked
from grpo_ref.files import replace_text, require_writable

FIXED = ("points", "of", "percent", "solved", "official")
"""Columns of the table of marks that are always there."""
STUDENTS, MARKS = "students", "marks.csv"
LONGEST = 80
"""Characters of a student's name in the name of a file."""
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins with one of these is a formula to a spreadsheet."""


class ClassResults:
    """The folder of a class's results.

    Args:
      folder: it is made if it is not there.

    Raises:
      OSError: if it cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.students = folder, folder / STUDENTS
        require_writable(self.students)

    def path(self, student: str) -> Path:
        """The file of one student."""
        return self.students / f"{file_name(student)}.json"

    def is_done(self, student: str, key: str) -> bool:
        """Whether there is a result of this student that nothing has changed since."""
        return self.read(student).get("key") == key

    def read(self, student: str) -> Row:
        """The record of one student; nothing if there is none that can be read."""
        try:
            found = json.loads(self.path(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and found.get("version") == VERSION else {}

    def write(self, record: Row) -> None:
        """Keep the record of one student, as a whole or not at all; one that is kept already stays."""
        if self.read(record["student"]) != record:
            text = json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
            replace_text(self.path(record["student"]), text)

    def write_marks(self, students: Iterable[str], course: CourseFile, about: Mapping[str, Row]) -> None:
        """Write the table of all students, a row each.

        Args:
          students: in the order of the rows.
          course: its exercises and assignments get columns of their own.
          about: student -> what the roster knows, columns of its own.
        """
        known = list(dict.fromkeys(column for row in about.values() for column in row))
        parts = [part.name for part in course.assignments] if len(course.assignments) > 1 else []
        columns = ["student", *known, *FIXED, *parts, *course.exercises, "notes"]
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(map(as_cell, columns))
        for student in students:
            row = {"student": student, **about.get(student, {}), **_marks_in(self.read(student))}
            table.writerow(as_cell(row.get(column, "")) for column in columns)
        replace_text(self.folder / MARKS, text.getvalue())


def _marks_in(record: Row) -> Row:
    """The cells of the table of marks that come of one student's record."""
    exercises = marked(record)["exercises"]
    return {
        **{column: record.get(column, "") for column in ("points", "of", "percent")},
        "solved": sum(each["status"] == "passed" for each in exercises),
        "official": "yes" if record.get("official") else "no",
        **{part["name"]: part["points"] for part in record.get("assignments", ())},
        **{each["id"]: each["points"] for each in exercises},
        "notes": "; ".join(all_notes(record)),
    }


def file_name(student: str) -> str:
    """A student's name as that of a file, on every system; different students have different ones.

    >>> file_name("smith"), file_name("../Jo Smith")
    ('smith', 'Jo_Smith-56fd65')
    """
    plain = re.sub(r"[^a-z0-9_.-]+", "_", student, flags=re.ASCII | re.IGNORECASE).strip("._")[:LONGEST]
    is_itself = plain == student and plain == plain.lower() and bool(plain)
    digest = hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()[:6]
    return plain if is_itself else f"{plain or 'student'}-{digest}"


def as_cell(value: Any) -> Any:
    r"""A value for a table that spreadsheets open: text never becomes a formula, nor ends a line.

    >>> as_cell("=1+1"), as_cell("smith"), as_cell(-1.5), as_cell("a\r=b")
    ("'=1+1", 'smith', -1.5, 'a =b')
    """
    if not isinstance(value, str):
        return value
    text = CONTROL.sub(" ", value)
    return f"'{text}" if text.startswith(FORMULA) or value.startswith(FORMULA) else text
