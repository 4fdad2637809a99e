"""Grade all answers of one student, independently of all other students."""

import hashlib
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from grpo_ref.course.classroom.handed_in import Delivery, HandedIn
from grpo_ref.course.contents import course
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade, not_started
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.report import FAILED, Report
from grpo_ref.course.grading.sandbox import MakeBackend, Sandbox
from grpo_ref.course.grading.wasm import Wasm
from grpo_ref.course.layout import file_of
from grpo_ref.course.starters import starter_of
from grpo_ref.course.statement_file import LANGUAGES

SECONDS = 180.0
"""Wall-clock time for all answers of one student. Answers that are left when it is used up fail without being
tried.
"""
UNTRIED = "Not tried: the time for all answers of this student was used up."
BITS = 2**32


@dataclass(frozen=True)
class Graded:
    """The result of grading one student.

    Attributes:
      student: name of the student.
      seed: the student's own seed for the random inputs.
      reports: one for each exercise of the course, in order.
      missing: exercises without an answer.
      notes: files that could not be used, one sentence each.
      is_official: whether every answer ran in the sandbox for strangers.
      seconds: wall-clock time of the grading.
    """

    student: str
    seed: int
    reports: Sequence[Report]
    missing: Sequence[str]
    notes: Sequence[str]
    is_official: bool
    seconds: float

    @property
    def points(self) -> float:
        """Sum of the points of all exercises."""
        return round(sum(report.points for report in self.reports), 2)

    @property
    def of(self) -> int:
        """Largest possible number of points."""
        return sum(report.of for report in self.reports)


def seed_of(student: str, class_seed: int) -> int:
    """Return the seed of one student's random inputs: always the same, and different for every student.

    >>> seed_of("smith", 1) == seed_of("smith", 1) != seed_of("jones", 1)
    True
    """
    digest = hashlib.sha256(f"{class_seed}/{student}".encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest[:8]) % BITS


def key_of(delivery: Delivery, names: Sequence[str], *, seed: int, is_safe: bool) -> str:
    """Return a text that changes with anything that a student's result depends on.

    Args:
      delivery: the files.
      names: ids of the exercises of the course.
      seed: seed of the class.
      is_safe: whether the answers run in WebAssembly.
    """
    files = [(str(path), hashlib.sha256(content).hexdigest()) for path, content in delivery.files]
    parts = (delivery.student, files, tuple(delivery.notes), tuple(names), seed, is_safe, _course())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@cache
def _course() -> str:
    """Return a checksum of the grader and of every source's problems with their hidden cases."""
    digest = hashlib.sha256()
    for path in (path for source in course().sources for path in sorted(source.folder.rglob("*"))):
        if path.suffix in (".py", ".json", ".md", ".toml") and path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def grade_student(
    handed_in: HandedIn, names: Sequence[str], *, seed: int, is_safe: bool = True, seconds: float = SECONDS
) -> Graded:
    """Grade every answer of one student.

    Args:
      handed_in: the answers.
      names: ids of the exercises of the course, in order.
      seed: seed of the class.
      is_safe: whether the answers run in WebAssembly; else they run in processes, and the verdicts are not
        official.
      seconds: wall-clock time for all answers.
    """
    begun, own = time.monotonic(), seed_of(handed_in.student, seed)
    with tempfile.TemporaryDirectory(prefix="grpo-ref-") as folder:
        grading = _Grading(handed_in.answers, own, Path(folder), begun + seconds)
        make_room = Wasm if is_safe else Process
        reports = [replace(grading.report(name, make_room), official=is_safe) for name in names]
    missing = [name for name in names if name not in handed_in.answers]
    taken = time.monotonic() - begun
    return Graded(handed_in.student, own, reports, missing, handed_in.notes, is_safe, taken)


@dataclass
class _Grading:
    """The grading of one student's answers.

    Attributes:
      answers: id of an exercise -> text.
      seed: the student's own seed.
      folder: folder for the files.
      until: time at which the student's time is used up.
    """

    answers: Mapping[str, bytes]
    seed: int
    folder: Path
    until: float

    def report(self, name: str, make_room: MakeBackend) -> Report:
        """Return the report on one exercise, whose answer runs in a sandbox of this kind."""
        problem, text = PROBLEMS[name], self.answers.get(name)
        if text is None or text in _starters(name):
            return not_started(problem, self.seed)
        if time.monotonic() >= self.until:
            return replace(not_started(problem, self.seed), status=FAILED, symptom=UNTRIED)
        path = self.folder / file_of(name).name
        path.write_bytes(text)
        with Sandbox(path, make_room=make_room) as sandbox:
            return grade(problem, sandbox, seed=self.seed)


@cache
def _starters(name: str) -> set[bytes]:
    """Return the starter in each language."""
    return {starter_of(name, language).encode() for language in LANGUAGES}
