"""The course as plain text: the hints that have been read, and the student's progress."""

import os
from collections.abc import Sequence

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.workbook import Workbook
from grpo_ref.render.output import columns
from grpo_ref.render.wrapping import filled

WIDTH, READABLE = 30, 100
"""Largest width of the progress bar, and of a line of prose, in characters."""


def hints_text(name: str, hints: Sequence[str], shown: int, *, plain: bool = False) -> str:
    """Return the first hints of an exercise, and the command that shows the next one or the model answer."""
    lines = [_hint(step, hint, len(hints), plain) for step, hint in enumerate(hints[:shown], start=1)]
    last = f"no more hints; model answer: grpo-ref solution {name}"
    more = f"more: grpo-ref hint {name}" if shown < len(hints) else last
    return "\n".join([name, *lines, "", more])


def _hint(step: int, hint: str, total: int, plain: bool) -> str:
    if plain:
        return f"Hint {step} of {total}: {hint}"
    begin = f"{step} of {total}: "
    width = min(columns(), READABLE)
    return filled(f"{begin}{hint}", width, indent=" " * len(begin))


def next_text(workbook: Workbook, after: str | None = None) -> str:
    """Return a line on the next unsolved exercise, after another one if it is given; "" if all are solved."""
    name = workbook.next_open(after)
    return f"next: {os.path.relpath(workbook.path(name))}   (grpo-ref hint {name})" if name else ""


def overview(workbook: Workbook, *, plain: bool = False) -> str:
    """Return one line about the whole course: a bar, the number of solved exercises, and the points."""
    progress, solved = workbook.progress, len(workbook.solved())
    points = sum(progress.points.get(name, 0.0) for name in EXERCISES)
    total = sum(exercise.points for exercise in EXERCISES.values())
    summary = f"{solved} of {len(EXERCISES)} solved, {points:g} of {total} points"
    if plain:
        return f"{summary}."
    width = min(WIDTH, max(0, columns() - len(summary) - len("[] ")))
    filled = width * solved // len(EXERCISES)
    return f"[{'#' * filled}{'-' * (width - filled)}] {summary}"
