"""The course as plain text: the hints that have been read, and how far a student has come."""

from collections.abc import Sequence

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.workbook import Workbook

WIDTH = 30
"""Characters of the progress bar."""


def hints_text(name: str, hints: Sequence[str], shown: int) -> str:
    """The first hints of an exercise, and how to get more."""
    lines = [f"{step} of {len(hints)}: {hint}" for step, hint in enumerate(hints[:shown], start=1)]
    if shown < len(hints):
        lines += ["", f"more: grpo-ref hint {name}"]
    return "\n".join(lines)


def overview(workbook: Workbook) -> str:
    """One line about the whole course: a bar, exercises solved, points."""
    progress, solved = workbook.progress, len(workbook.solved())
    points = sum(progress.points.get(name, 0.0) for name in EXERCISES)
    total = sum(exercise.points for exercise in EXERCISES.values())
    filled = WIDTH * solved // len(EXERCISES)
    bar = "#" * filled + "-" * (WIDTH - filled)
    return f"[{bar}] {solved} of {len(EXERCISES)} solved, {points:g} of {total} points"
