"""Sort the files of a folder or archive by student and exercise."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from grpo_ref.course.classroom.entries import Entry, Unreadable, entries, top_folders
from grpo_ref.course.classroom.needed_names import given
from grpo_ref.course.classroom.notebook import code_of
from grpo_ref.course.classroom.submitters import Submitter, submitters
from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.layout import folder_of
from grpo_ref.course.problems import PROBLEMS

CANVAS = re.compile(r"(?P<student>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)")
"""A file in Canvas's download: the student's name and number, the number of the upload, the file's name."""
MOODLE = re.compile(r"(?P<student>.+_\d+)_assignsubmission_\w*")
"""A folder of Moodle's download."""
COPY = re.compile(r"(-\d+| ?\(\d+\)| copy)+$")
"""Suffix that browsers and courses add to the name of a file that exists already."""
OURS = frozenset(("conftest",))
"""Files beside the exercises that are not answers."""
FEWEST = 2
"""Smallest number of students in the one folder of an archive. A single one may be part of one student's
work.
"""
MOST_NOTES = 20
"""Largest number of notes on a student's files that are listed one by one."""
NOBODY = "unnamed"
"""The student to whom files without a name belong."""
CHAPTER_FOLDERS = {str(folder_of(chapter)) for chapter in CHAPTERS} | set(CHAPTERS)
NAMES = {name.split("/")[1]: name for name in EXERCISES}
"""Last part of an exercise's id -> the id."""
FUNCTIONS = Counter(PROBLEMS[name].function for name in EXERCISES)
BY_FUNCTION = {PROBLEMS[name].function: name for name in EXERCISES if FUNCTIONS[PROBLEMS[name].function] == 1}
"""Name of a function that only one exercise requests -> the id of the exercise."""


@dataclass(frozen=True)
class HandedIn:
    """The answers of one student.

    Attributes:
      student: name of the student in the download.
      answers: id of an exercise -> text of the answer.
      notes: files that could not be used, one sentence each.
    """

    student: str
    answers: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pile:
    """The files of one student, not read yet.

    Attributes:
      student: name of the student.
      files: pairs of the path without the student's name, and the entry.
      aliases: other names of the student in the download.
      submitted: time of the submission, if the download states it.
    """

    student: str
    files: Sequence[tuple[PurePosixPath, Entry]]
    aliases: tuple[str, ...] = ()
    submitted: datetime | None = None

    def read(self) -> HandedIn:
        """Read the files and return the answers among them. Files that cannot be answers are noted."""
        found: dict[str, dict[bytes, PurePosixPath]] = defaultdict(dict)
        notes = []
        for path, entry in self.files:
            try:
                answers = dict(_answers(path, entry.read()))
            except Unreadable as error:
                notes.append(f"{path} {error}")
                continue
            if not answers:
                notes.append(f"{path} does not answer any exercise")
            for name, text in answers.items():
                found[name][text] = path
        for name, texts in found.items():
            if len(texts) > 1:
                paths = ", ".join(map(str, texts.values()))
                notes.append(
                    f"{name} was handed in with different texts and is not graded; keep one of: {paths}"
                )
        only = {name: next(iter(texts)) for name, texts in found.items() if len(texts) == 1}
        more = [f"and {len(notes) - MOST_NOTES} more notes"] * (len(notes) > MOST_NOTES)
        return HandedIn(self.student, only, (*notes[:MOST_NOTES], *more))


def piles(place: Path, results: Path | None = None) -> list[Pile]:
    """Return the files of every student in a folder or zip file, sorted by student.

    Several layouts are understood, also mixed: a folder for each student, files named `EXERCISE_STUDENT.py`,
    and the downloads of Canvas, Moodle and Gradescope. An empty folder is a student who submitted nothing.

    Args:
      place: the folder, or the zip file.
      results: a folder that is skipped if it lies directly in `place`.

    Raises:
      Unreadable: if the place is neither, or holds no student's files.
    """
    found, folders = entries(place), top_folders(place)
    if results is not None and results.resolve().parent == place.resolve():
        folders.discard(results.name)
        found = [entry for entry in found if entry.path.parts[0] != results.name]
    outer = "" if place.is_dir() else _outer_folder(found, folders)
    files: dict[str, list[tuple[PurePosixPath, Entry]]] = {
        _student_in(folder): [] for folder in folders if folder != outer and folder not in CHAPTER_FOLDERS
    }
    for entry in found:
        student, rest = _student_of(entry.path.relative_to(outer) if outer else entry.path)
        if rest.stem not in OURS:
            files.setdefault(student, []).append((rest, entry))
    if not files:
        raise Unreadable(f"expected folders of students, or .py or .ipynb files, in {place}; found none")
    return _by_submitter(files, submitters(place))


def pile_of(place: Path, student: str) -> Pile:
    """Return all files of a folder or zip file as those of one student.

    Raises:
      Unreadable: if the place is neither.
    """
    found = [(entry.path, entry) for entry in entries(place) if entry.path.stem not in OURS]
    return Pile(student, found)


def _by_submitter(
    files: Mapping[str, list[tuple[PurePosixPath, Entry]]], listed: Mapping[str, list[Submitter]]
) -> list[Pile]:
    """Return the files of every student. The files of a group belong to each of its members."""
    found: dict[str, Pile] = {}
    for folder in sorted(files):
        for who in listed.get(folder) or [Submitter(folder)]:
            before = found.get(who.student) or Pile(who.student, ())
            times = [time for time in (before.submitted, who.submitted) if time is not None]
            found[who.student] = Pile(
                who.student, [*before.files, *files[folder]], who.aliases, max(times, default=None)
            )
    return [found[student] for student in sorted(found)]


def _outer_folder(found: Sequence[Entry], folders: set[str]) -> str:
    """Return the one folder of an archive that holds all students, as some programs pack it, or ""."""
    if len(folders) != 1 or any(len(entry.path.parts) == 1 for entry in found):
        return ""
    inside = [PurePosixPath(*entry.path.parts[1:]) for entry in found]
    is_a_student = len({path.parts[0] for path in inside}) < FEWEST or any(
        path.parts[0] in CHAPTER_FOLDERS or (len(path.parts) == 1 and _exercise_of(path)) for path in inside
    )
    return "" if is_a_student else next(iter(folders))


def _student_of(path: PurePosixPath) -> tuple[str, PurePosixPath]:
    """Return the student of a file, and the file's path without the student's name.

    >>> _student_of(PurePosixPath("k3_smith.py"))
    ('smith', PurePosixPath('k3.py'))
    >>> _student_of(PurePosixPath("smithjo_LATE_4711_99_02_clipped.py"))
    ('smithjo_4711', PurePosixPath('02_clipped.py'))
    >>> _student_of(PurePosixPath("Jo Smith_4711_assignsubmission_file/k3.py"))
    ('Jo Smith_4711', PurePosixPath('k3.py'))
    """
    first, *rest = path.parts
    if rest:
        return (NOBODY, path) if first in CHAPTER_FOLDERS else (_student_in(first), PurePosixPath(*rest))
    if canvas := CANVAS.fullmatch(first):
        return f"{canvas['student']}_{canvas['id']}", PurePosixPath(canvas["file"])
    for name in sorted(NAMES, key=len, reverse=True):
        named = re.fullmatch(rf"(?:\d+_)?{name}_(?P<student>.+)", path.stem, re.IGNORECASE)
        if named:
            return named["student"], PurePosixPath(name + path.suffix)
    return (NOBODY if _exercise_of(path) else path.stem), path


def _student_in(folder: str) -> str:
    """Return the student to whom this folder or zip file belongs.

    >>> _student_in("Jo Smith_4711_assignsubmission_file"), _student_in("smithjo_4711_99_my-exercises")
    ('Jo Smith_4711', 'smithjo_4711')
    """
    if moodle := MOODLE.fullmatch(folder):
        return moodle["student"]
    canvas = CANVAS.fullmatch(folder)
    return f"{canvas['student']}_{canvas['id']}" if canvas else folder


def _exercise_of(path: PurePosixPath) -> str:
    """Return the id of the exercise that a file is named after, or "".

    >>> _exercise_of(PurePosixPath("03_ratios/03_Clipped (1).py"))
    'ratios/clipped'
    """
    stem = re.sub(r"^\d+_", "", COPY.sub("", path.stem)).lower()
    return NAMES.get(stem, "")


def _answers(path: PurePosixPath, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the exercises that a file answers: by its name, or else by the names of the functions in it."""
    text = code_of(content, FUNCTIONS) if path.suffix.lower() == ".ipynb" else content
    if name := _exercise_of(path):
        yield name, text
        return
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise Unreadable(f"is not named after an exercise, and is not valid Python{where}") from error
    for name in dict.fromkeys(name for node in body for name in sorted(given(node))):
        if name in BY_FUNCTION:
            yield BY_FUNCTION[name], text
