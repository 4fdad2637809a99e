"""Who handed in what: the files of a folder or archive, sorted by student and exercise."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from grpo_ref.course.classroom.entries import Entry, Unreadable, entries, top_folders
from grpo_ref.course.classroom.needed import given
from grpo_ref.course.classroom.notebook import code_of
from grpo_ref.course.classroom.submitters import Submitter, submitters
from grpo_ref.course.contents import CHAPTERS, EXERCISES, FORMER_NAMES
from grpo_ref.course.layout import folder_of
from grpo_ref.course.problems import PROBLEMS

CANVAS = re.compile(r"(?P<student>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)")
"""A file of Canvas's download: the student's name and number, the number of the upload, the file's name."""
MOODLE = re.compile(r"(?P<student>.+_\d+)_assignsubmission_\w*")
"""A folder of Moodle's download."""
COPY = re.compile(r"(-\d+| ?\(\d+\)| copy)+$")
"""What browsers and courses add to the name of a file that is there already."""
OURS = frozenset(("conftest",))
"""Files beside the exercises that are no answers."""
FEWEST = 2
"""Students in the one folder of an archive; a single one there may be a part of somebody's work."""
MOST_NOTES = 20
"""Notes about the files of a student that are told one by one."""
NOBODY = "unnamed"
"""The student whose files are named after nobody."""
CHAPTER_FOLDERS = {str(folder_of(chapter)) for chapter in CHAPTERS} | set(CHAPTERS)
NAMES = {former.split("/")[1]: name for former, name in FORMER_NAMES.items()}
NAMES |= {name.split("/")[1]: name for name in EXERCISES}
"""Last part of an exercise's id, now or formerly -> the id."""
FUNCTIONS = Counter(PROBLEMS[name].function for name in EXERCISES)
BY_FUNCTION = {PROBLEMS[name].function: name for name in EXERCISES if FUNCTIONS[PROBLEMS[name].function] == 1}
"""Name of a function that only one exercise asks for -> the id of the exercise."""


@dataclass(frozen=True)
class HandedIn:
    """What one student handed in.

    Attributes:
      student: who it is, as the download names him or her.
      answers: id of an exercise -> text of the answer.
      notes: what could not be used, a sentence each.
    """

    student: str
    answers: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pile:
    """The files of one student, which have not been read yet.

    Attributes:
      student: who it is.
      files: the names without what names the student, and the entries.
      aliases: what else the download calls the student.
      submitted: when it was handed in, if the download says so.
    """

    student: str
    files: Sequence[tuple[PurePosixPath, Entry]]
    aliases: tuple[str, ...] = ()
    submitted: datetime | None = None

    def read(self) -> HandedIn:
        """The answers among them; what cannot be one is noted."""
        found: dict[str, dict[bytes, PurePosixPath]] = defaultdict(dict)
        notes = []
        for path, entry in self.files:
            try:
                answers = dict(_answers(path, entry.read()))
            except Unreadable as error:
                notes.append(f"{path} {error}")
                continue
            if not answers:
                notes.append(f"{path} is the answer to no exercise")
            for name, text in answers.items():
                found[name][text] = path
        for name, texts in found.items():
            if len(texts) > 1:
                paths = ", ".join(map(str, texts.values()))
                notes.append(f"{name} was handed in with different texts and is not graded: {paths}")
        only = {name: next(iter(texts)) for name, texts in found.items() if len(texts) == 1}
        more = [f"and {len(notes) - MOST_NOTES} more notes"] * (len(notes) > MOST_NOTES)
        return HandedIn(self.student, only, (*notes[:MOST_NOTES], *more))


def piles(place: Path, results: Path | None = None) -> list[Pile]:
    """The files of every student in a folder or zip file, by student.

    A folder for each student, files named `EXERCISE_STUDENT.py`, and the downloads of Canvas, Moodle and
    Gradescope are understood, mixed too. An empty folder is a student who handed in nothing.

    Args:
      place: the folder, or the zip file.
      results: a folder that is left out, if it lies directly in `place`.

    Raises:
      Unreadable: if it is neither, or there is nobody in it.
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
        raise Unreadable(f"{place} holds no folders of students, nor .py or .ipynb files")
    return _by_submitter(files, submitters(place))


def pile_of(place: Path, student: str) -> Pile:
    """All files of a folder or zip file, as those of one student.

    Raises:
      Unreadable: if it is neither.
    """
    found = [(entry.path, entry) for entry in entries(place) if entry.path.stem not in OURS]
    return Pile(student, found)


def _by_submitter(
    files: Mapping[str, list[tuple[PurePosixPath, Entry]]], listed: Mapping[str, list[Submitter]]
) -> list[Pile]:
    """A pile for every student; the work of a group is in each of theirs."""
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
    """The one folder of an archive that all students are in, as some programs pack it; else ""."""
    if len(folders) != 1 or any(len(entry.path.parts) == 1 for entry in found):
        return ""
    inside = [PurePosixPath(*entry.path.parts[1:]) for entry in found]
    is_a_student = len({path.parts[0] for path in inside}) < FEWEST or any(
        path.parts[0] in CHAPTER_FOLDERS or (len(path.parts) == 1 and _exercise_of(path)) for path in inside
    )
    return "" if is_a_student else next(iter(folders))


def _student_of(path: PurePosixPath) -> tuple[str, PurePosixPath]:
    """Who a file is from, and its name without the student's.

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
    """The student whose folder, or zip file, this is.

    >>> _student_in("Jo Smith_4711_assignsubmission_file"), _student_in("smithjo_4711_99_my-exercises")
    ('Jo Smith_4711', 'smithjo_4711')
    """
    if moodle := MOODLE.fullmatch(folder):
        return moodle["student"]
    canvas = CANVAS.fullmatch(folder)
    return f"{canvas['student']}_{canvas['id']}" if canvas else folder


def _exercise_of(path: PurePosixPath) -> str:
    """Id of the exercise that a file is named after, or "".

    >>> _exercise_of(PurePosixPath("03_ratios/03_Clipped (1).py"))
    'ratios/clipped'
    """
    stem = re.sub(r"^\d+_", "", COPY.sub("", path.stem)).lower()
    return NAMES.get(stem, "")


def _answers(path: PurePosixPath, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The exercises that a file answers: by its name, or else by the names of the functions in it."""
    text = code_of(content, FUNCTIONS) if path.suffix.lower() == ".ipynb" else content
    if name := _exercise_of(path):
        yield name, text
        return
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise Unreadable(f"is named after no exercise, and cannot be read as Python{where}") from error
    for name in dict.fromkeys(name for node in body for name in sorted(given(node))):
        if name in BY_FUNCTION:
            yield BY_FUNCTION[name], text
