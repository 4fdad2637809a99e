"""A student's folder of exercises: the paths of its files, and the student's progress.

The modules that write or grade the files are `starters` and `marking`, so that reading the folder needs
neither the grader nor an array library.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import file_of
from grpo_ref.course.progress import Progress


class Workbook:
    """One folder, its files and its `progress.txt`. Exercises are named by their ids.

    Attributes:
      folder: folder of the chapters.
      tell: called with a sentence if the progress file is damaged.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object]) -> None:
        self.folder, self.tell = folder, tell

    @property
    def progress(self) -> Progress:
        """The progress, read again each time, because another command may have changed it."""
        return Progress.load(self.folder, self.tell)

    def path(self, name: str) -> Path:
        """Return the path of the student's file of an exercise."""
        return self.folder / file_of(name)

    def record(self, points: Mapping[str, float]) -> None:
        """Store the points reached, by exercise. Fewer points than before change nothing."""
        progress = self.progress
        for name, reached in points.items():
            progress.reached(name, reached)
        progress.save(self.folder)

    def climb(self, name: str, highest: int, steps: int | None = None) -> int:
        """Move on to further hints of an exercise, store how far, and return the number of hints to show.

        Args:
          name: the exercise.
          highest: number of hints that there are.
          steps: number of hints that are requested; by default one more than were read.
        """
        progress = self.progress
        reached = min(highest, progress.hints.get(name, 0) + 1 if steps is None else steps)
        progress.hinted(name, reached)
        progress.save(self.folder)
        return reached

    def solved(self) -> set[str]:
        """Return the exercises whose full points have been reached at least once."""
        points = self.progress.points
        return {name for name, listed in EXERCISES.items() if points.get(name, 0.0) >= listed.points}

    def is_solved(self, name: str) -> bool:
        """Return whether the full points of an exercise have been reached at least once."""
        return name in self.solved()

    def next_open(self, after: str | None = None) -> str | None:
        """Return the first unsolved exercise, after another one if it is given; None if all are solved."""
        names, solved = list(EXERCISES), self.solved()
        begin = 0 if after is None else names.index(after) + 1
        return next((name for name in names[begin:] + names[:begin] if name not in solved), None)

    def first_open(self, names: Sequence[str] = ()) -> str:
        """Return the first unsolved exercise of some, or of all; if all are solved, the first one."""
        names, solved = names or list(EXERCISES), self.solved()
        return next((name for name in names if name not in solved), names[0])

    def has_exercises(self) -> bool:
        """Return whether the folder has any file of the course."""
        return any(self.path(name).is_file() for name in EXERCISES)
