"""The results of a class as files: one for each student, written as soon as it is known, and a table of all
marks.
"""

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
"""Columns that the table of marks always has."""
STUDENTS, MARKS = "students", "marks.csv"
LONGEST = 60
"""Largest number of characters of a student's name in a file name."""
DIGITS = 32
"""Number of hexadecimal digits in a file name: too many to search for two names with equal digits."""
DIGEST = re.compile(rf"-[0-9a-f]{{{DIGITS}}}$")
CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a cell as a formula."""
SEPARATED = re.compile(r"(; *)(?=[=+@-])")
"""The end of a cell before a formula, where spreadsheets separate cells by semicolons."""


class ClassResults:
    """The folder with the results of a class.

    Args:
      folder: path of the folder; it is created if it does not exist.

    Raises:
      OSError: if the folder is not writable.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.students = folder, folder / STUDENTS
        require_writable(self.students)

    def path(self, student: str) -> Path:
        """Return the path of one student's file."""
        return self.students / f"{file_name(student)}.json"

    def is_done(self, student: str, key: str) -> bool:
        """Return whether this student has a result and nothing that it depends on has changed since."""
        return self.read(student).get("key") == key

    def read(self, student: str) -> Row:
        """Return the record of one student; an empty one if there is no readable record."""
        try:
            found = json.loads(self.path(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) and found.get("version") == VERSION else {}

    def write(self, record: Row) -> None:
        """Write the record of one student in one step. An unchanged record is not written again."""
        if self.read(record["student"]) != record:
            text = json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
            replace_text(self.path(record["student"]), text)

    def write_marks(self, students: Iterable[str], course: CourseFile, about: Mapping[str, Row]) -> None:
        """Write the table of all students, one row each.

        Args:
          students: the students, in the order of the rows.
          course: the course; its exercises and assignments get columns.
          about: student -> the roster's information, which gets columns too.
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
    """Return the cells of the table of marks for one student's record."""
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
    """Convert a student's name to a file name that works on every system. Different students get different
    names, also if they choose their names to have the same one.

    >>> file_name("smith"), file_name("../Jo Smith")
    ('smith', 'Jo_Smith-56fd6553759afd0f1ac96a746dea410f')
    """
    plain = re.sub(r"[^a-z0-9_.-]+", "_", student, flags=re.ASCII | re.IGNORECASE).strip("._")[:LONGEST]
    is_itself = plain == student == plain.lower() != "" and not DIGEST.search(student)
    digest = hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()[:DIGITS]
    return plain if is_itself else f"{plain or 'student'}-{digest}"


def as_cell(value: Any) -> Any:
    r"""Convert a value for a table that spreadsheets open: text never becomes a formula and never ends a
    line.

    >>> as_cell("=1+1"), as_cell("smith"), as_cell(-1.5), as_cell("a\r=b"), as_cell("a;=b")
    ("'=1+1", 'smith', -1.5, 'a =b', "a;'=b")
    """
    if not isinstance(value, str):
        return value
    text = SEPARATED.sub(r"\1'", CONTROL.sub(" ", value))
    return f"'{text}" if text.startswith(FORMULA) or value.startswith(FORMULA) else text
