"""`grpo-ref watch`: grade an exercise whenever it is saved, and do other tasks at single keys."""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import click

import grpo_ref
from grpo_ref.course.commands.exercise import (
    ExerciseName,
    folder_option,
    open_workbook,
    require_exercises,
    saying_what_is_graded,
)
from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.exercises import PROBLEMS, hints_of, translated
from grpo_ref.course.grading.report import NOT_STARTED
from grpo_ref.course.rendering.course_text import hints_text, overview
from grpo_ref.course.rendering.report_text import report_text
from grpo_ref.course.workbook import Workbook
from grpo_ref.render.output import columns, plain_option

KEYS = "s: statement   h: hint   n: next   l: list   r: reset   enter: grade again   q: quit"
NARROW = "s: statement   h: hint   n: next   l: list\nr: reset   enter: grade again   q: quit"
WIDEST = 100
"""Largest width of a line of prose, in characters."""
PULSE = 100
"""Time between two checks of the keyboard, in milliseconds."""
UNREAD = 2.0
"""Time for which the report on another file does not replace a report, in seconds."""


@click.command("watch", epilog="Example:  grpo-ref watch advantages/ranks")
@click.argument("exercise", type=ExerciseName(), required=False)
@plain_option
@folder_option
@click.option(
    "--poll", is_flag=True, help="Check the files regularly, for network drives that do not report changes."
)
def command(exercise: str | None, plain: bool, folder: Path, poll: bool) -> None:
    """Show one exercise, by default the first unsolved one, and grade it whenever it is saved.

    If you save another exercise's file, that exercise is shown instead. In a terminal, single keys show the
    statement, hints and the list, reset the exercise and move to the next one. q quits at any time, even
    while an exercise is being graded. Without a terminal, stop with Ctrl-C.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise click.ClickException(
            "watch needs the package watchfiles; run: pip install 'grpo-ref[watch]'"
        ) from error
    workbook = open_workbook(folder)
    require_exercises(workbook)
    changes = watch(
        folder,
        force_polling=poll or None,
        debounce=300,
        rust_timeout=PULSE,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    with keyboard() as pressed, suppress(Left):
        screen = Screen(workbook, exercise or workbook.first_open(), pressed, plain=plain)
        next(changes)  # from here on no save is missed
        screen.grade()
        for changed in changes:
            screen.saved(Path(path) for _, path in changed)
            if not all(screen.key(key) for key in pressed()):
                return


class Left(BaseException):
    """The student quits while an exercise is being graded. No check of the grader catches this exception."""


class Latest(NamedTuple):
    """The report that was shown last: its exercise, its text, and the time."""

    exercise: str
    text: str
    when: float

    def is_new(self) -> bool:
        """Return whether the report was shown too recently to have been read."""
        return time.monotonic() - self.when < UNREAD


class Screen:
    """The display: one exercise, its report, and the keys.

    Attributes:
      workbook: the student's folder.
      exercise: id of the current exercise.
      pressed: the keyboard.
      plain: whether to write sentences without color, one after the other.
      note: a sentence that stays on the screen until the next key.
    """

    def __init__(self, workbook: Workbook, exercise: str, pressed: "Pressed", *, plain: bool = False) -> None:
        self.workbook, self.exercise, self.pressed, self.plain = workbook, exercise, pressed, plain
        self.asked, self.note = False, ""
        self.latest = Latest("", "", 0.0)

    def grade(self, before: str = "") -> None:
        """Grade the current exercise and show the report; if it is not started, show the statement too.

        Args:
          before: text to show above the report.
        """
        report = self._report(self.exercise)
        text = report_text(report, plain=self.plain)
        self.latest = Latest(self.exercise, text, time.monotonic())
        if report.status == NOT_STARTED:
            text = f"{self._statement()}\n\n{text}"
        self.show(before + text)

    def _report(self, name: str) -> "grpo_ref.course.Report":
        """Grade one exercise, store its points and return the report. The key q quits while it is graded."""
        with saying_what_is_graded(name), self.pressed.leaving():
            report = grpo_ref.course.mark(self.workbook, name)
        self.workbook.record({report.problem: report.points})
        return report

    def _statement(self) -> str:
        """Return the statement of the current exercise, as wide as the terminal but not too wide to read."""
        problem = translated(PROBLEMS[self.exercise], self.workbook.progress.language)
        return grpo_ref.course.statement(problem, min(columns(), WIDEST))

    def show(self, text: str) -> None:
        """Show a text, with progress and file of the current exercise below it."""
        if not self.plain:
            click.clear()
        path = self.workbook.path(self.exercise)
        click.echo(f"{text}\n\n{overview(self.workbook, plain=self.plain)}\n{path}")
        if not path.is_file():
            click.echo("This file is missing; press r to write it again.")
        if self.note:
            click.echo(self.note)
        if self.workbook.is_solved(self.exercise):
            solved = f"solved; to see the model answer, run: grpo-ref solution {self.exercise}"
            click.secho(solved, fg=None if self.plain else "green")
        if sys.stdin.isatty():
            click.echo(KEYS if columns() > len(KEYS) else NARROW)

    def saved(self, paths: Iterable[Path]) -> None:
        """Grade every exercise whose file was saved, the current one last. Another saved exercise may become
        the current one.

        If the current file was deleted, that is shown. A report that is too recent to have been read stays
        above.
        """
        changed = {path.resolve() for path in paths}
        names = [name for name in EXERCISES if self.workbook.path(name).resolve() in changed]
        saved = [name for name in names if self.workbook.path(name).is_file()]
        if saved and self.exercise not in saved:
            self.exercise = saved[-1]
        above = [] if self.latest.exercise in names or not self.latest.is_new() else [self.latest.text]
        others = [self._report(name) for name in saved if name != self.exercise]
        above += [report_text(report, plain=self.plain) for report in others]
        if self.exercise in names:
            self.grade("".join(f"{text}\n\n" for text in above))

    def key(self, key: str) -> bool:
        """Do the action of a key. Return False if the student quits."""
        confirmed, self.asked, self.note = self.asked and key == "y", False, ""
        if confirmed:
            backup = grpo_ref.course.reset(self.workbook, self.exercise)
            self.note = f"your work is in {backup}" if backup else "the file had no work of yours"
            self.grade()
        elif key == "h":
            hints = hints_of(self.exercise, self.workbook.progress.language)
            shown = self.workbook.climb(self.exercise, len(hints))
            self.show(hints_text(self.exercise, hints, shown, plain=self.plain))
        elif key == "s":
            self.show(self._statement())
        elif key == "l":
            self.show("\n".join(self._chapters()))
        elif key == "n":
            self.exercise = self.workbook.next_open(self.exercise) or self.exercise
            self.grade()
        elif key == "r":
            self.asked = True
            click.echo("Restore the starter? Your work is kept in a backup.  y: yes   any other key: no")
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
    """Yield the keyboard, which returns single keys without Enter; no keys if standard input is not a
    terminal.
    """
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
    """A keyboard. Call it to get the keys that were pressed since the last call."""

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor, self.waiting = descriptor, ""

    def __call__(self) -> str:
        """Return the keys, in order. Never wait."""
        keys, self.waiting = self.waiting + self._read(), ""
        return keys

    def _read(self) -> str:
        if self.descriptor is None or not select.select([self.descriptor], [], [], 0)[0]:
            return ""
        return os.read(self.descriptor, 64).decode(errors="replace") or "q"

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """Let the key q end the enclosed block with Left. Other keys wait until the block is done."""

        def look(number: int, frame: object) -> None:
            self.waiting += self._read()
            if "q" in self.waiting:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                raise Left

        before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, PULSE / 1000, PULSE / 1000)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
