"""Sort the files of a folder or archive by student and exercise."""

import ast
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from grpo_ref.course.classroom.entries import ANSWERS, ARCHIVE, MOST, Entry, Unreadable, entries
from grpo_ref.course.classroom.needed_names import given
from grpo_ref.course.classroom.notebook import code_of
from grpo_ref.course.classroom.submitters import LIST, Submitter, submitters
from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import folder_of

CANVAS = re.compile(r"(?P<student>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)")
"""A file in Canvas's download: the student's name and number, the number of the upload, the file's name."""
MOODLE = "_assignsubmission_"
"""Middle of a folder's name in Moodle's download, after the student's name and number."""
GRADESCOPE = re.compile(r"assignment_\d+_export")
"""The one folder in Gradescope's download. It holds a folder for each submission, and the list of them."""
OURS = frozenset(("conftest",))
"""Files beside the exercises that are not answers."""
WORK = frozenset(
    ".7z .bz2 .doc .docx .gz .htm .html .odt .pages .pdf .rar .rtf .tar .tex .tgz .xz .zst".split()
)
"""Suffixes of files that cannot be read and may hold a student's work."""
LARGEST_TOTAL = 64 * 1024**2
"""Largest size of all files of one student, and again of those in archives, in bytes."""
FEWEST = 2
"""Smallest number of students in the one folder of an archive. A single one may be part of one student's
work.
"""
MOST_NOTES, MOST_NAMES = 20, 5
"""Largest number of notes on a student's files, and of file names in one note."""
NOBODY = "unnamed"
"""The student to whom files without a name belong."""
CHAPTER_FOLDERS = {str(folder_of(chapter)) for chapter in CHAPTERS}
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


@dataclass
class Gathered:
    """Files of one student, read within limits on their number and total size.

    Attributes:
      files: pairs of a path and the content.
      notes: files that could not be read, one sentence each.
      unread: paths of files that are neither answers nor archives.
      left: number of bytes that may still be read.
    """

    files: list[tuple[PurePosixPath, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: list[PurePosixPath] = field(default_factory=list)
    left: int = field(default_factory=lambda: LARGEST_TOTAL)

    def add(self, path: PurePosixPath, entry: Entry) -> None:
        """Read a file."""
        if entry.problem:
            self.notes.append(f"{path} {entry.problem}")
        elif path.suffix.lower() not in (*ANSWERS, ARCHIVE):
            self.unread += [path] * (entry.read is not None)
        elif entry.read is not None:
            try:
                content = entry.read()
                if len(content) > self.left:
                    raise Unreadable(f"is beyond {LARGEST_TOTAL // 1024**2} MiB, the limit for all files")
                self.left -= len(content)
                self.files.append((path, content))
            except Unreadable as error:
                self.notes.append(f"{path} {error}")

    def all_notes(self) -> list[str]:
        """List the files that could not be read, those of other kinds in one note."""
        named = [path for path in self.unread if path.suffix.lower() in WORK or not self.files]
        if not named:
            return self.notes
        more = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
        listed = ", ".join(map(str, named[:MOST_NAMES])) + more
        return [*self.notes, f"not read, because it is not a .py, .ipynb or .zip file: {listed}"]


@dataclass(frozen=True)
class Delivery:
    """The files of one student as they were handed in. Nothing in them has been looked at yet.

    Attributes:
      student: name of the student.
      files: pairs of a path and the content.
      notes: files that could not be read, one sentence each.
    """

    student: str
    files: Sequence[tuple[PurePosixPath, bytes]]
    notes: tuple[str, ...] = ()

    def read(self) -> HandedIn:
        """Return the answers among the files. Files that cannot be answers are noted.

        The files may be made to take much time and memory, so call this in a process of its own.
        """
        inside = Gathered()
        for path, content in self.files:
            if path.suffix.lower() == ARCHIVE:
                _open(path, content, inside)
            else:
                inside.files.append((path, content))
        texts_of: dict[str, dict[bytes, PurePosixPath]] = defaultdict(dict)
        notes = [*self.notes, *inside.all_notes()]
        for path, content in inside.files:
            if path.stem in OURS:
                continue
            try:
                answers = dict(_answers(path, content))
            except Unreadable as error:
                notes.append(f"{path} {error}")
                continue
            if not answers:
                notes.append(f"{path} does not answer any exercise")
            for name, text in answers.items():
                texts_of[name][text] = path
        for name, texts in texts_of.items():
            if len(texts) > 1:
                paths = ", ".join(map(str, texts.values()))
                notes.append(
                    f"{name} was handed in with different texts and is not graded; keep one of: {paths}"
                )
        only = {name: next(iter(texts)) for name, texts in texts_of.items() if len(texts) == 1}
        more = [f"and {len(notes) - MOST_NOTES} more notes"] * (len(notes) > MOST_NOTES)
        return HandedIn(self.student, only, (*notes[:MOST_NOTES], *more))


def _open(path: PurePosixPath, content: bytes, inside: Gathered) -> None:
    """Read the files of an archive. Archives in it are noted."""
    folder = path.with_suffix("")
    try:
        members = entries(io.BytesIO(content))
    except Unreadable as error:
        inside.notes.append(f"{path} {error}")
        return
    if not members:
        inside.notes.append(f"{path} is empty")
    for entry in members[:MOST]:
        if entry.path.suffix.lower() == ARCHIVE:
            entry = Entry(entry.path, problem="is a zip file in a zip file, which is not opened")
        inside.add(folder / entry.path, entry)
    if len(members) > MOST:
        inside.notes.append(f"{path} has more than {MOST} files; only {MOST} are read")


@dataclass(frozen=True)
class Pile:
    """The files of one student, not read yet.

    Attributes:
      student: name of the student.
      files: pairs of the path without the student's name, and the entry.
      aliases: other names of the student in the download.
      numbers: numbers and addresses by which the platform identifies the student. A student cannot choose
        them.
      submitted: time of the submission, if the download states it.
    """

    student: str
    files: Sequence[tuple[PurePosixPath, Entry]]
    aliases: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    submitted: datetime | None = None

    def fetch(self) -> Delivery:
        """Return the contents of the files, within limits on their number and size."""
        gathered = Gathered()
        for path, entry in self.files[:MOST]:
            gathered.add(path, entry)
        notes = gathered.all_notes()
        if len(self.files) > MOST:
            notes.append(f"more than {MOST} files were handed in; only {MOST} are read")
        return Delivery(self.student, tuple(gathered.files), tuple(notes))


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
    listing = entries(place)
    if results is not None and results.resolve().parent == place.resolve():
        listing = [entry for entry in listing if entry.path.parts[0] != results.name]
    outer = "" if place.is_dir() else _outer_folder(listing)
    inside = [(_inside(entry, outer), entry) for entry in listing]
    owned = [(_owner(path, entry), entry) for path, entry in inside if path.parts]
    by_student: dict[str, list[tuple[Owner, Entry]]] = defaultdict(list)
    for owner, entry in owned:
        if owner.student:
            by_student[owner.student].append((owner, entry))
    if not by_student:
        raise Unreadable(f"expected folders of students, or .py or .ipynb files, in {place}; found none")
    # Students can choose names like those of Canvas and Moodle. Only a platform names all files like this.
    is_platform = all(owner.number for owner, _ in owned if owner.student)
    listed = submitters(next((entry for path, entry in inside if path == PurePosixPath(LIST)), None), place)
    return _by_submitter(by_student, listed, is_platform)


def pile_of(place: Path, student: str) -> Pile:
    """Return all files of a folder or zip file as those of one student.

    Raises:
      Unreadable: if the place is neither.
    """
    listing = islice(entries(place), MOST + 1)
    return Pile(student, [(entry.path, entry) for entry in listing])


def _by_submitter(
    by_student: "Mapping[str, Sequence[tuple[Owner, Entry]]]",
    listed: Mapping[str, Sequence[Submitter]],
    is_platform: bool,
) -> list[Pile]:
    """Return the files of every student. The files of a group belong to each of its members."""
    by_name: dict[str, Pile] = {}
    for student in sorted(by_student):
        numbers = dict.fromkeys(owner.number for owner, _ in by_student[student] if is_platform)
        files = [(owner.rest, entry) for owner, entry in by_student[student] if owner.rest.parts]
        for who in listed.get(student) or [Submitter(student, numbers=tuple(numbers))]:
            before = by_name.get(who.student) or Pile(who.student, ())
            times = [time for time in (before.submitted, who.submitted) if time is not None]
            by_name[who.student] = Pile(
                who.student,
                [*before.files, *files][: MOST + 1],
                who.aliases,
                who.numbers,
                max(times, default=None),
            )
    return [by_name[student] for student in sorted(by_name)]


def _inside(entry: Entry, outer: str) -> PurePosixPath:
    return entry.path.relative_to(outer) if outer else entry.path


def _outer_folder(listing: Sequence[Entry]) -> str:
    """Return the one folder of an archive that holds all students, as some programs pack it, or ""."""
    folders = {entry.path.parts[0] for entry in listing}
    if len(folders) != 1 or any(len(entry.path.parts) == 1 and entry.read for entry in listing):
        return ""
    (outer,) = folders
    if GRADESCOPE.fullmatch(outer):
        return outer
    inside = [PurePosixPath(*entry.path.parts[1:]) for entry in listing]
    is_a_student = len({path.parts[0] for path in inside if path.parts}) < FEWEST or any(
        path.parts[:1] and (path.parts[0] in CHAPTER_FOLDERS or (len(path.parts) == 1 and _exercise_of(path)))
        for path in inside
    )
    return "" if is_a_student else outer


class Owner(NamedTuple):
    """The student of a file or folder.

    Attributes:
      student: name of the student; "" if the file belongs to no student.
      rest: path without the student's name.
      number: number that Canvas or Moodle gives to the student, or "".
    """

    student: str
    rest: PurePosixPath
    number: str = ""


def _owner(path: PurePosixPath, entry: Entry) -> Owner:
    """Return the student of a file or folder.

    >>> file = Entry(PurePosixPath(), bytes)
    >>> _owner(PurePosixPath("k3_smith.py"), file)
    Owner(student='smith', rest=PurePosixPath('k3.py'), number='')
    >>> _owner(PurePosixPath("smithjo_LATE_4711_99_02_clipped.py"), file)
    Owner(student='smithjo_4711', rest=PurePosixPath('02_clipped.py'), number='4711')
    >>> _owner(PurePosixPath("Jo Smith_4711_assignsubmission_file/k3.py"), file)
    Owner(student='Jo Smith_4711', rest=PurePosixPath('k3.py'), number='4711')
    """
    first, *rest = path.parts
    if first in CHAPTER_FOLDERS:
        return Owner(NOBODY, path)
    is_file = not rest and (entry.read is not None or entry.problem != "")
    if canvas := CANVAS.fullmatch(first):
        below = PurePosixPath(canvas["file"] if is_file else "", *rest)
        return Owner(f"{canvas['student']}_{canvas['id']}", below, canvas["id"])
    if not is_file:
        student, moodle, _ = first.rpartition(MOODLE)  # a chosen name may contain the mark, too
        student = student if moodle else first
        number = student.rpartition("_")[2] if moodle else ""
        is_number = number.isdecimal()
        return Owner(student if is_number else first, PurePosixPath(*rest), number if is_number else "")
    kind = path.suffix.lower()
    if kind in ANSWERS and _exercise_of(path):
        return Owner(NOBODY, path)
    stem = re.sub(r"^\d+_", "", path.stem)
    for name in sorted(NAMES, key=len, reverse=True):
        if stem.lower().startswith(f"{name}_") and len(stem) > len(name) + 1:
            return Owner(stem[len(name) + 1 :], PurePosixPath(name + path.suffix))
    is_work = kind in {*ANSWERS, ARCHIVE, *WORK} or entry.problem
    return Owner(path.stem.removesuffix(".tar") if is_work else "", path)


def _exercise_of(path: PurePosixPath) -> str:
    """Return the id of the exercise that a file is named after, or "".

    >>> _exercise_of(PurePosixPath("03_ratios/03_Clipped (1).py"))
    'ratios/clipped'
    """
    stem = re.sub(r"^\d+_", "", _without_copies(path.stem)).lower()
    return NAMES.get(stem, "")


def _without_copies(stem: str) -> str:
    """Remove what browsers and courses add to the name of a file that exists already.

    >>> _without_copies("k3-1 (2) copy"), _without_copies("k3(1)"), _without_copies("k3-b")
    ('k3', 'k3', 'k3-b')
    """
    while True:
        shorter = stem.removesuffix(" copy")
        head, dash, number = shorter.rpartition("-")
        if dash and number.isdecimal():
            shorter = head
        head, bracket, number = shorter.rpartition("(")
        if bracket and number.endswith(")") and number[:-1].isdecimal():
            shorter = head.removesuffix(" ")
        if shorter == stem:
            return stem
        stem = shorter


def _answers(path: PurePosixPath, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the exercises that a file answers: by its name, or else by the names of the functions in it."""
    text = code_of(content, FUNCTIONS) if path.suffix.lower() == ".ipynb" else content
    if name := _exercise_of(path):
        yield name, text
        return
    try:
        names = dict.fromkeys(name for node in ast.parse(text).body for name in sorted(given(node)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        why = "is nested too deeply" if isinstance(error, RecursionError) else f"is not valid Python{where}"
        raise Unreadable(f"is not named after an exercise, and {why}") from error
    for name in names:
        if name in BY_FUNCTION:
            yield BY_FUNCTION[name], text
