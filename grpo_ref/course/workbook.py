"""A student's folder of exercises: fill it, grade it, climb its hints, start one again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.grading.grade import DEFAULT_SEED, NOT_STARTED, Report, grade
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import file_of, starter_of, support_files
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.progress import Progress
from grpo_ref.files import free_name, replace_text


class Filled(NamedTuple):
    """What `Workbook.fill` did.

    Attributes:
      written: how many files are new.
      upgraded: how many untouched ones got a newer text.
      kept: how many hold somebody's work.
    """

    written: int
    upgraded: int
    kept: int


class Workbook:
    """One folder, its files and its `progress.txt`.

    Attributes:
      folder: where the chapters lie.
      tell: is given a sentence if the progress file is damaged.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object]) -> None:
        self.folder, self.tell = folder, tell

    @property
    def progress(self) -> Progress:
        """What has been reached, read anew each time: another command may have written meanwhile."""
        return Progress.load(self.folder, self.tell)

    def path(self, problem: Problem) -> Path:
        """The student's file."""
        return self.folder / file_of(problem)

    def fill(self) -> Filled:
        """Write all exercises, and what lets pytest grade them; what a student has touched stays as it is."""
        texts = {problem.id: (self.path(problem), starter_of(problem)) for problem in PROBLEMS.values()}
        texts |= {f"folder/{name}": (self.folder / name, text) for name, text in support_files().items()}
        progress, written, upgraded, kept = self.progress, 0, 0, 0
        for name, (path, text) in texts.items():
            present = path.read_bytes() if path.exists() else None
            if present is None or progress.is_untouched(name, present):
                written += present is None
                upgraded += present not in (None, text.encode())
                _write(path, text)
            elif present != text.encode():
                kept += 1
            progress.wrote(name, text)
        progress.save(self.folder)
        return Filled(written, upgraded, kept)

    def is_untouched(self, problem: Problem) -> bool:
        """Whether the file is still what the student started from, now or in an earlier version."""
        content = self.path(problem).read_bytes()
        return content == starter_of(problem).encode() or self.progress.is_untouched(problem.id, content)

    def grade(self, problem: Problem, *, seed: int = DEFAULT_SEED) -> Report:
        """Grade one file; a file that is still as it came is not started, whatever it does."""
        if self.is_untouched(problem):
            return Report(problem.id, problem.title, NOT_STARTED, (), 0.0, problem.points, seed=seed)
        return grade(problem, self.path(problem), seed=seed)

    def record(self, points: Mapping[str, float]) -> None:
        """Note the points reached, by exercise; fewer than before take nothing away."""
        progress = self.progress
        for name, reached in points.items():
            progress.reached(name, reached)
        progress.save(self.folder)

    def is_solved(self, problem: Problem) -> bool:
        """Whether all its points have been reached once."""
        return self.progress.points.get(problem.id, 0.0) >= problem.points

    def next_open(self, after: Problem | None = None) -> Problem | None:
        """The first unsolved exercise, after another one if there is any; None if all are solved."""
        problems = list(PROBLEMS.values())
        begin = 0 if after is None else problems.index(after) + 1
        ordered = problems[begin:] + problems[:begin]
        return next((problem for problem in ordered if not self.is_solved(problem)), None)

    def hints(self, problem: Problem, steps: int | None = None) -> tuple[str, ...]:
        """The hints up to a step, by default one more than were read; how many is noted."""
        progress = self.progress
        steps = progress.hints.get(problem.id, 0) + 1 if steps is None else steps
        shown = problem.hints[:steps]
        progress.hinted(problem.id, len(shown))
        progress.save(self.folder)
        return shown

    def reset(self, problem: Problem) -> Path | None:
        """Put the starter back; the work so far is moved to a backup beside it, whose path is returned."""
        path, backup = self.path(problem), None
        if path.exists() and not self.is_untouched(problem):
            backup = free_name(path.with_suffix(".backup"))
            path.replace(backup)
        _write(path, starter_of(problem))
        return backup


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text)
