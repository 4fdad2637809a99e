"""The roster of a class: a CSV file with a row for everybody."""

import csv
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

SUBMITTED = "submitted"
"""The column that says when somebody handed in."""
RESERVED = frozenset(("student", "points", "of", "percent", "solved", "official", "notes"))
"""Columns of the table of marks; those of a roster with these names are left out."""
Row = dict[str, Any]


def read_roster(path: Path) -> dict[str, Row]:
    """Student -> the other columns of the row.

    Raises:
      ValueError: if it is no CSV file with a header, names somebody twice or not at all, or has a time in its
        column `submitted` that cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no CSV file in UTF-8: {error}") from error
    found: dict[str, Row] = {}
    for line, row in enumerate(rows, start=2):
        first, *others = row
        student = (row[first] or "").strip()
        if not student or None in row:
            raise ValueError(
                f"{path}, line {line}: expected a cell for each column, the student's name first"
            )
        if student in found:
            raise ValueError(f"{path}, line {line}: {student} is there twice")
        try:
            submitted_of(row)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from error
        found[student] = {column: row[column] for column in others if column not in RESERVED}
    return found


def submitted_of(row: Mapping[str, Any]) -> datetime | None:
    """When the student of a row handed in; None if the roster does not say.

    Raises:
      ValueError: if what stands there is no time with its offset from UTC.

    >>> submitted_of({"submitted": "2027-03-01T23:59:00+01:00"}).hour
    23
    """
    text = (row.get(SUBMITTED) or "").strip()
    if not text:
        return None
    expected = f"{SUBMITTED}: expected a time with its offset, as 2027-03-01T23:59:00+01:00, got {text!r}"
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(expected) from error
    if time.tzinfo is None:
        raise ValueError(expected)
    return time


def named(student: str, row: Mapping[str, Any], aliases: Mapping[str, Iterable[str]]) -> str:
    """What somebody of the roster handed in under: that name, any cell, or a number at the end of the name.

    Args:
      student: as the roster says.
      row: the other cells.
      aliases: names that work was handed in under -> what else the download calls them.
    """
    known = {str(cell).strip().casefold() for cell in (student, *row.values()) if cell}
    same = [name for name in aliases if name.casefold() in known]
    numbered = [name for name in aliases if "_" in name and name.rpartition("_")[2] in known]
    other = [name for name, more in aliases.items() if known & {each.casefold() for each in more}]
    return next(iter(same or numbered or other), student)
