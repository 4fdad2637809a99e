"""The roster of a class: a CSV file with one row per student."""

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from grpo_ref.course.classroom import COLUMNS, Pile
from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.classroom.submitters import EARLIEST, LATEST
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
        if _plain(student) in map(_plain, found):
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
      ValueError: if the cell is not a time with its offset from UTC, or is far from the present.

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
    if time.tzinfo is None or not EARLIEST < time.year < LATEST:
        raise ValueError(expected)
    return time


def matched(rows: Mapping[str, Row], piles: Iterable[Pile]) -> dict[str, str]:
    """Return, for each student of the roster, the name under which the work was submitted. Students without
    work are omitted.

    A number or an address that the platform gives to a student decides before any name. If the roster has
    such numbers, names do not count where a number is known: students choose their names. A cell that occurs
    in the rows of several students, and a row that fits the work of several, is ignored.

    Args:
      rows: the roster.
      piles: the work of the students.
    """
    owners = _owners(rows)
    known = list(piles)
    by_number = {pile.student: _only_owner(owners, pile.numbers) for pile in known}
    named = [pile for pile in known if not (pile.numbers and any(by_number.values()))]
    claims = (
        by_number,
        {pile.student: pile.student if pile.student in rows else "" for pile in named},
        {pile.student: _only_owner(owners, (pile.student, *pile.aliases)) for pile in named},
    )
    found: dict[str, str] = {}
    for claim in claims:  # the most reliable first
        wanted = Counter(claim.values())
        for name, student in claim.items():
            if student and wanted[student] == 1 and student not in found and name not in found.values():
                found[student] = name
    return found


def _only_owner(owners: Mapping[str, str], names: Iterable[str]) -> str:
    """Return the one student to whose row these names belong, or ""."""
    who = {owners[_plain(name)] for name in names if owners.get(_plain(name))}
    return who.pop() if len(who) == 1 else ""


def _owners(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return, for each cell, the student in whose row alone it occurs, or "" if it occurs in several rows."""
    owners: dict[str, str] = {}
    for student, row in rows.items():
        for cell in {_plain(str(each)) for each in (student, *row.values()) if str(each).strip()}:
            owners[cell] = "" if cell in owners else student
    return owners


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).casefold()
