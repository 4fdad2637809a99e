"""The autograder for Gradescope: the archive to upload, and the program that runs for every submission."""

import io
import json
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from grpo_ref.course import classroom
from grpo_ref.course.classroom import CourseFile, Override
from grpo_ref.course.classroom.class_record import Row, marked, record_of, tests_gave, with_marks
from grpo_ref.course.rendering.class_formats import gradescope_data

TEMPLATES = Path(__file__).parents[1] / "commands" / "templates"
SCRIPT = 0o755 << 16
"""Permissions of a script, as zip files store them."""
BEGUN = (2020, 1, 1, 0, 0, 0)
"""Time stamp of all members, so that equal inputs give equal archives."""
DAY = timedelta(days=1)
GRADED = "graded"
"""Key in a result that says whether this submission was graded or shows an earlier submission's result."""
SUBMISSION, METADATA, RESULTS = "submission", "submission_metadata.json", "results/results.json"
"""Paths in Gradescope's folder where Gradescope puts the submission and expects the results."""


class Metadata(NamedTuple):
    """Gradescope's information on a submission.

    Attributes:
      student: address or number of the student; for a group, those of all members.
      submitted: time of the submission.
      previous: earlier submissions, as Gradescope describes them.
    """

    student: str
    submitted: datetime
    previous: Sequence[Mapping[str, Any]]


def build(files: Mapping[str, bytes], requirements: Sequence[str], options: Sequence[str]) -> bytes:
    """Return the archive to upload.

    Args:
      files: the files beside the scripts: course file, overrides, wheels.
      requirements: the packages to install there, one line each.
      options: options of `grpo-ref gradescope run` there.
    """
    scripts = {
        name: Template((TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")).substitute(
            options=shlex.join(options)
        )
        for name in ("setup.sh", "run_autograder")
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in scripts.items():
            _add(archive, name, text.encode(), SCRIPT)
        _add(archive, "requirements.txt", "".join(f"{line}\n" for line in requirements).encode())
        for name, content in files.items():
            _add(archive, name, content)
    return file.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, permissions: int = 0o644 << 16) -> None:
    member = zipfile.ZipInfo(name, BEGUN)
    member.external_attr, member.compress_type = permissions, zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def read_metadata(path: Path) -> Metadata:
    """Read Gradescope's information on the submission.

    Raises:
      ValueError: if the file is not as Gradescope writes it.
      OSError: if it cannot be read.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        people = [user.get("email") or user.get("name") or str(user["id"]) for user in data["users"]]
        submitted = datetime.fromisoformat(data["created_at"])
        previous = list(data.get("previous_submissions") or ())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path}: expected Gradescope's submission_metadata.json with users and created_at"
            f" ({type(error).__name__}: {error})"
        ) from error
    if submitted.tzinfo is None:
        raise ValueError(f"{path}: created_at has no offset from UTC: {data['created_at']}")
    return Metadata(" ".join(sorted(people)) or "unnamed", submitted, previous)


def graded_before(metadata: Metadata) -> list[Mapping[str, Any]]:
    """Return the earlier submissions that were graded, the oldest first.

    Raises:
      ValueError: if one of them has no readable time.
    """
    done = [each for each in metadata.previous if isinstance(each.get("results"), dict)]
    done = [each for each in done if (each["results"].get("extra_data") or {}).get(GRADED, True)]
    return sorted(done, key=_time)


def within_a_day(metadata: Metadata) -> int:
    """Return how many submissions were graded in the 24 hours before this one.

    The hours count back from the time of this submission, so that running the autograder again changes
    nothing.
    """
    before = (metadata.submitted - _time(each) for each in graded_before(metadata))
    return sum(timedelta(0) <= passed < DAY for passed in before)


def _time(submission: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(str(submission["submission_time"]))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{METADATA}: an earlier submission has no submission_time ({error})") from error


def graded(
    root: Path, metadata: Metadata, course: CourseFile, overrides: Sequence[Override], seed: int
) -> Row:
    """Return the result of a submission in Gradescope's format."""
    delivery = classroom.pile_of(root / SUBMISSION, metadata.student).fetch()
    (result,) = classroom.grade_class([delivery], course.exercises, seed=seed, workers=1)
    record = record_of(result, "")
    own = [each for each in overrides if each.student in metadata.student.split()]
    given = tests_gave(record, course.exercises)
    marks = classroom.marks_of(given, course, own, metadata.submitted)
    return gradescope_data(marked(with_marks(record, marks, metadata.submitted)))


def too_many(metadata: Metadata, per_day: int) -> Row:
    """Return the result of a submission beyond the limit: the last graded result, with a sentence above it.

    Args:
      metadata: metadata of the submission; at least one earlier submission was graded.
      per_day: the limit.
    """
    last = graded_before(metadata)[-1]
    kept = dict(last["results"])
    were = "submission was" if per_day == 1 else "submissions were"
    sentence = f"Not graded: {per_day} {were} graded within 24 hours. The previous result stays."
    kept["output"] = f"{sentence}\n\n{kept.get('output') or ''}".strip()
    kept["output_format"] = "md"
    kept["extra_data"] = {**(kept.get("extra_data") or {}), GRADED: False}
    kept.setdefault("score", float(last.get("score") or 0.0))
    return kept
