"""The roster of a class: a CSV file with one row per student."""

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from grpo_ref.course.classroom import COLUMNS
from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.contents import EXERCISES

SUBMITTED = "submitted"
"""Name of the column with the time of the submission."""
SEPARATORS = ",;\t"


def read_roster(path: Path) -> dict[str, Row]:
    """Return, for each student, the other columns of the row.

    Raises:
      ValueError: if the file is not CSV with a header, has a student twice or without a name, or has an
        unreadable time in the column `submitted`.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            heading = file.readline()
            file.seek(0)
            reader = csv.reader(file, strict=True, delimiter=max(SEPARATORS, key=heading.count))
            rows = [(reader.line_num, row) for row in reader if row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected a CSV file in UTF-8: {error}") from error
    columns = [column.strip().removeprefix("\ufeff") for column in rows[0][1]] if rows else []
    if len(rows) < 2:
        raise ValueError(f"{path}: expected a heading and a row for each student")
    _see_that_columns_differ(path, columns)
    found: dict[str, Row] = {}
    for line, cells in rows[1:]:
        student = cells[0].strip()
        if not student or len(cells) != len(columns):
            raise ValueError(
                f"{path}, line {line}: expected a cell for each column, the student's name first"
            )
        if student in found:
            raise ValueError(f"{path}, line {line}: {student} occurs twice; keep one row")
        found[student] = dict(zip(columns[1:], cells[1:], strict=True))
        try:
            submitted_of(found[student])
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from error
    return found


def _see_that_columns_differ(path: Path, columns: Sequence[str]) -> None:
    """Check that no heading occurs twice or is the name of a column of the marks."""
    taken = [column for column in columns[1:] if column in COLUMNS or column in EXERCISES]
    twice = [column for column, count in Counter(columns).items() if count > 1]
    for column in (*taken, *twice):
        why = "occurs twice" if column in twice else "is a column of the marks"
        raise ValueError(f"{path}, line 1: the column {column!r} {why}; rename it")


def submitted_of(row: Mapping[str, Any]) -> datetime | None:
    """Return when the student of a row submitted, or None if the roster does not say.

    Raises:
      ValueError: if the cell is not a time with its offset from UTC.

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


def matched(rows: Mapping[str, Row], aliases: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return, for each student of the roster, the name under which the work was submitted. Students without
    work are omitted.

    A student is found by the first column, else by any cell, or by a number at the end of the name. A cell
    that occurs in the rows of several students, or that fits the work of several, is ignored.

    Args:
      rows: the roster.
      aliases: names under which work was submitted -> other names in the download.
    """
    owners = _owners(rows)
    found: dict[str, str] = {}
    for name, more in aliases.items():
        if name in rows:
            found[name] = name
            continue
        known = [name, *([name.rpartition("_")[2]] if "_" in name else []), *more]
        who = {owners[_plain(each)] for each in known if owners.get(_plain(each))}
        if len(who) == 1 and (student := who.pop()) not in found and student not in aliases:
            found[student] = name
    return found


def _owners(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return, for each cell, the student in whose row alone it occurs, or "" if it occurs in several rows."""
    owners: dict[str, str] = {}
    for student, row in rows.items():
        for cell in {_plain(str(each)) for each in (student, *row.values()) if str(each).strip()}:
            owners[cell] = "" if cell in owners else student
    return owners


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
