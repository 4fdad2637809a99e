"""Read Gradescope's list of who submitted what: `submission_metadata.yml` in a download of submissions."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import lazy_loader

from grpo_ref.course.classroom.entries import Entry, Unreadable, readable

yaml: Any = lazy_loader.load("yaml")

LIST = "submission_metadata.yml"
EARLIEST, LATEST = 1970, 3000
"""Years between which a time is believed. Times near year 1 or 9999 cannot be converted to other zones."""


class Submitter(NamedTuple):
    """A person who submitted.

    Attributes:
      student: name with the student's number or address appended, to separate students of the same name.
      aliases: other names that a roster or gradebook may use for the student.
      numbers: the student's number and address.
      submitted: time of the submission; None if the list does not state it.
    """

    student: str
    aliases: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    submitted: datetime | None = None


def submitters(entry: Entry | None, place: Path) -> dict[str, list[Submitter]]:
    """Return the submitters of each submission's folder, several for a group; empty if there is no list.

    Args:
      entry: the list at the top of the download; a file elsewhere may be a student's.
      place: the download, for messages.

    Raises:
      Unreadable: if the list is not as Gradescope writes it.
    """
    if entry is None or entry.read is None:
        return {}
    wrong = f"{place}: {LIST} is not as Gradescope writes it"
    try:
        listed = yaml.safe_load(entry.read())
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise Unreadable(f"{wrong} ({error})") from error
    if not isinstance(listed, dict):
        raise Unreadable(wrong)
    found = {_text(folder): list(_submitters(about)) for folder, about in listed.items()}
    people = {(each.student, each.numbers) for students in found.values() for each in students}
    named = Counter(student for student, _ in people)
    return {
        folder: [_with_numbers(each) if named[each.student] > 1 else each for each in students]
        for folder, students in found.items()
        if students
    }


def _with_numbers(submitter: Submitter) -> Submitter:
    """Return the submitter with all numbers in the name. Students may choose the name and the number of
    another student, but not the address.
    """
    return submitter._replace(student="_".join((*submitter.aliases, *submitter.numbers)))


def _submitters(about: Any) -> Iterator[Submitter]:
    """Yield the submitters of one submission. Entries in an unknown format are skipped."""
    if not isinstance(about, dict) or not isinstance(about.get(":submitters"), list):
        return
    submitted = _time(about.get(":created_at"))
    for person in about[":submitters"]:
        if isinstance(person, dict):
            name, sid, email = (_text(person.get(key)) for key in (":name", ":sid", ":email"))
            sid = "" if "@" in sid else sid  # students choose this number, which must not pass for an address
            numbers = tuple(filter(None, (sid, email)))
            student = "_".join(filter(None, (name, sid or email)))
            if student:
                yield Submitter(student, (name,) if name else (), numbers, submitted)


def _text(value: Any) -> str:
    """Return a name or a number as text. Anything else, such as a nested list, is empty."""
    return readable(str(value).strip()) if isinstance(value, str | int) else ""


def _time(value: Any) -> datetime | None:
    """Return a time. Gradescope's times are in UTC unless they say otherwise."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime) or not EARLIEST < value.year < LATEST:
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
