"""A student's folder of exercises: where its files are, and what has been reached in it.

What writes or grades the files is beside this module, in `starters` and `marking`, so that a look into the
folder needs neither the grader nor an array library.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import file_of
from grpo_ref.course.progress import Progress


class Workbook:
    """One folder, its files and its `progress.txt`. Exercises are named by their ids.

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

    def path(self, name: str) -> Path:
        """The student's file of an exercise."""
        return self.folder / file_of(name)

    def record(self, points: Mapping[str, float]) -> None:
        """Note the points reached, by exercise; fewer than before take nothing away."""
        progress = self.progress
        for name, reached in points.items():
            progress.reached(name, reached)
        progress.save(self.folder)

    def climb(self, name: str, highest: int, steps: int | None = None) -> int:
        """Go up the ladder of hints of an exercise and note how far; returns how many are to be shown.

        Args:
          name: the exercise.
          highest: how many hints there are.
          steps: how many are asked for; by default one more than were read.
        """
        progress = self.progress
        reached = min(highest, progress.hints.get(name, 0) + 1 if steps is None else steps)
        progress.hinted(name, reached)
        progress.save(self.folder)
        return reached

    def solved(self) -> set[str]:
        """The exercises of which all points have been reached once."""
        points = self.progress.points
        return {name for name, listed in EXERCISES.items() if points.get(name, 0.0) >= listed.points}

    def is_solved(self, name: str) -> bool:
        """Whether all points of an exercise have been reached once."""
        return name in self.solved()

    def next_open(self, after: str | None = None) -> str | None:
        """The first unsolved exercise, after another one if there is any; None if all are solved."""
        names, solved = list(EXERCISES), self.solved()
        begin = 0 if after is None else names.index(after) + 1
        return next((name for name in names[begin:] + names[:begin] if name not in solved), None)

    def first_open(self, names: Sequence[str] = ()) -> str:
        """The first unsolved one of some exercises, or of all; if there is none, the first of them."""
        names, solved = names or list(EXERCISES), self.solved()
        return next((name for name in names if name not in solved), names[0])

    def has_exercises(self) -> bool:
        """Whether any file of the course is in the folder."""
        return any(self.path(name).is_file() for name in EXERCISES)
