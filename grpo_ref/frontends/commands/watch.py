"""`grpo-ref watch`: grade an exercise whenever it is saved; one key each for hint, list, reset and next."""

import os
import select
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.grading.report import NOT_STARTED
from grpo_ref.course.layout import exercise_at
from grpo_ref.course.problems import PROBLEMS, hints_of
from grpo_ref.course.workbook import Workbook
from grpo_ref.frontends.course_text import hints_text, overview
from grpo_ref.frontends.exercise import (
    ExerciseName,
    folder_option,
    open_workbook,
    require_file,
    saying_what_is_graded,
)
from grpo_ref.frontends.report_text import report_text

KEYS = "h: hint   n: next   l: list   r: reset   enter: grade again   q: quit"
PULSE = 100
"""Milliseconds between two looks at the keyboard."""


@click.command("watch", epilog="Example:  grpo-ref watch advantages/ranks")
@click.argument("exercise", type=ExerciseName(), required=False)
@folder_option
@click.option(
    "--poll", is_flag=True, help="Look at the files themselves, for network drives that report no changes."
)
def command(exercise: str | None, folder: Path, poll: bool) -> None:
    """Show one exercise, by default the first that is not solved, and grade it whenever it is saved.

    Saving another exercise's file switches to it. In a terminal, single keys give hints, the list, a reset
    and the next exercise; without one, stop with Ctrl-C.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise click.ClickException("watch needs one more package: pip install 'grpo-ref[watch]'") from error
    workbook = open_workbook(folder)
    screen = Screen(workbook, exercise or workbook.next_open() or next(iter(EXERCISES)))
    require_file(workbook, screen.exercise)
    changes = watch(
        folder,
        force_polling=poll or None,
        debounce=300,
        rust_timeout=PULSE,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    with keyboard() as pressed:
        next(changes)  # from here on no save is missed
        screen.grade()
        for changed in changes:
            screen.saved(Path(path) for _, path in changed)
            if not all(screen.key(key) for key in pressed()):
                return


class Screen:
    """What is shown: one exercise, its report, and the keys.

    Attributes:
      workbook: the student's folder.
      exercise: id of the exercise at hand.
      note: a sentence that stays on the screen until the next key.
    """

    def __init__(self, workbook: Workbook, exercise: str) -> None:
        self.workbook, self.exercise = workbook, exercise
        self.asked, self.note = False, ""

    def grade(self) -> None:
        """Grade the exercise at hand and show the report; of one that is not started, the statement too."""
        with saying_what_is_graded(self.exercise):
            report = grpo_ref.course.mark(self.workbook, self.exercise)
        self.workbook.record({report.problem: report.points})
        told = report_text(report)
        if report.status == NOT_STARTED:
            told = f"{grpo_ref.course.statement(PROBLEMS[self.exercise])}\n\n{told}"
        self.show(told)

    def show(self, text: str) -> None:
        """Some text, and under it where one is."""
        click.clear()
        click.echo(f"{text}\n\n{overview(self.workbook)}\n{self.workbook.path(self.exercise)}")
        if self.note:
            click.echo(self.note)
        if self.workbook.is_solved(self.exercise):
            click.secho(f"solved; the model answer: grpo-ref solution {self.exercise}", fg="green")
        if sys.stdin.isatty():
            click.echo(KEYS)

    def saved(self, paths: Iterable[Path]) -> None:
        """Files were saved: grade the exercise that is among them, the one at hand first."""
        names = [name for name in map(exercise_at, paths) if name is not None]
        existing = [name for name in names if self.workbook.path(name).is_file()]
        if existing:
            self.exercise = self.exercise if self.exercise in existing else existing[0]
            self.grade()

    def key(self, key: str) -> bool:
        """Do what a key asks for; False if it is time to leave."""
        confirmed, self.asked, self.note = self.asked and key == "y", False, ""
        if confirmed:
            backup = grpo_ref.course.reset(self.workbook, self.exercise)
            self.note = f"your work is in {backup}" if backup else "there was no work of yours in it"
            self.grade()
        elif key == "h":
            hints = hints_of(self.exercise)
            shown = self.workbook.climb(self.exercise, len(hints))
            self.show(hints_text(self.exercise, hints, shown))
        elif key == "l":
            self.show("\n".join(self._chapters()))
        elif key == "n":
            self.exercise = self.workbook.next_open(self.exercise) or self.exercise
            self.grade()
        elif key == "r":
            self.asked = True
            click.echo("Put the starter back? Your work is kept beside it.  y: yes   any other key: no")
        elif key in "\r\n":
            self.grade()
        return key != "q"

    def _chapters(self) -> Iterator[str]:
        solved = self.workbook.solved()
        for chapter, title in CHAPTERS.items():
            names = [exercise.id for exercise in exercises_in(chapter)]
            yield f"{title}: {len(solved.intersection(names))} of {len(names)} solved"
            yield from (f"  {name}" for name in names if name not in solved)


@contextmanager
def keyboard() -> Iterator["Pressed"]:
    """Single keys of the terminal, without waiting for Enter; nothing if standard input is no terminal."""
    if not sys.stdin.isatty():
        yield Pressed(None)
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield Pressed(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


class Pressed:
    """Calling it gives the keys that were pressed since the last call."""

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor

    def __call__(self) -> str:
        """The keys, in order; never waits."""
        if self.descriptor is None or not select.select([self.descriptor], [], [], 0)[0]:
            return ""
        return os.read(self.descriptor, 64).decode(errors="replace") or "q"
