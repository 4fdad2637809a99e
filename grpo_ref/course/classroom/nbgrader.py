"""The marks of a class in the columns of `nbgrader export`."""

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from grpo_ref.course.classroom import CourseFile
from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.classroom.class_results import as_cell

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)
"""The columns that nbgrader's CsvExportPlugin writes."""


def nbgrader(records: Iterable[Row], course: CourseFile, about: Mapping[str, Row]) -> str:
    """Return a table with a row for every assignment of every student.

    Args:
      records: records of all students, with their marks.
      course: the course, whose assignments have the deadlines.
      about: student -> the roster's information; columns with nbgrader's names give names and address.
    """
    due = {each.name: each.deadline for each in course.assignments}
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for record in records:
        submitted = record.get("submitted")
        for part in record.get("assignments", ()):
            row = {
                "assignment": part["name"],
                "duedate": _in_utc(due.get(part["name"])),
                "timestamp": _in_utc(datetime.fromisoformat(submitted) if submitted else None),
                "student_id": record["student"],
                **_named(about.get(record["student"], {})),
                "raw_score": round(part["points"] + part["lost"], 2),
                "late_submission_penalty": part["lost"],
                "score": part["points"],
                "max_score": part["of"],
            }
            table.writerow({column: as_cell(value) for column, value in row.items()})
    return text.getvalue()


def _named(row: Row) -> dict[str, str]:
    """Return names and address, from the columns of the roster with these headings."""
    known = {str(column).strip().lower().replace(" ", "_"): cell for column, cell in row.items()}
    return {column: known.get(column) or "" for column in ("last_name", "first_name", "email")}


def _in_utc(time: datetime | None) -> str:
    """Format a time as nbgrader does: in UTC, without the offset.

    >>> _in_utc(datetime.fromisoformat("2027-03-01T23:59:00+01:00"))
    '2027-03-01 22:59:00'
    """
    return "" if time is None else str(time.astimezone(UTC).replace(tzinfo=None))
