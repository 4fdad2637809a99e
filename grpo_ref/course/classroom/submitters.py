"""Read Gradescope's list of who submitted what: `submission_metadata.yml` in a download of submissions."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import lazy_loader

from grpo_ref.course.classroom.entries import Unreadable, content_of

yaml: Any = lazy_loader.load("yaml")

LIST = "submission_metadata.yml"


class Submitter(NamedTuple):
    """A person who submitted.

    Attributes:
      student: name with the student's number or address appended, to separate students of the same name.
      aliases: other names that a roster or gradebook may use for the student.
      submitted: time of the submission; None if the list does not state it.
    """

    student: str
    aliases: tuple[str, ...] = ()
    submitted: datetime | None = None


def submitters(place: Path) -> dict[str, list[Submitter]]:
    """Return the submitters of each submission's folder, several for a group; empty if there is no list.

    Args:
      place: the folder or zip file. The list lies in it, or in the one folder of a zip file.

    Raises:
      Unreadable: if the list is not as Gradescope writes it.
    """
    text = content_of(place, LIST)
    if text is None:
        return {}
    try:
        listed = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(f"{place}: {LIST} is not as Gradescope writes it ({error})") from error
    if not isinstance(listed, dict):
        raise Unreadable(f"{place}: {LIST} is not as Gradescope writes it")
    found = {str(folder): list(_submitters(about)) for folder, about in listed.items()}
    return {folder: students for folder, students in found.items() if students}


def _submitters(about: Any) -> Iterator[Submitter]:
    """Yield the submitters of one submission. Entries in an unknown format are skipped."""
    if not isinstance(about, dict) or not isinstance(about.get(":submitters"), list):
        return
    submitted = _time(about.get(":created_at"))
    for person in about[":submitters"]:
        if isinstance(person, dict):
            name, sid, email = (str(person.get(key) or "").strip() for key in (":name", ":sid", ":email"))
            known = tuple(filter(None, (name, sid, email)))
            if known:
                yield Submitter("_".join(filter(None, (name, sid or email))), known, submitted)


def _time(value: Any) -> datetime | None:
    """Return a time. Gradescope's times are in UTC unless they say otherwise."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
