"""Live progress: a bar in a terminal, and occasional lines in a pipe or if plain text was requested."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from grpo_ref.render.output import is_plain

FIRST, LONGER = 1.0, 1.5
"""Without a terminal, nothing is printed before the first second. Then a line is printed after the first
second, again each time the elapsed time has grown by half, and at the end.
"""


def _console() -> Console:
    return Console(file=sys.stderr, force_terminal=False if is_plain() else None)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show the title of a task of unknown length; in a terminal, with the elapsed time."""
    console = _console()
    if not console.is_terminal:
        print(title, file=sys.stderr)
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console) as shown:
        shown.add_task(title, total=None)
        yield


class ProgressBar:
    """A progress bar with the remaining time, written to standard error.

    Attributes:
      title: name of the task.
      unit: name of the counted things.
      total: number of things.
      start: number of things done before.
    """

    def __init__(self, title: str, unit: str, total: int, *, start: int = 0) -> None:
        self.console = _console()
        self.unit, self.total, self.start = unit, total, start
        self.begun, self.due = time.monotonic(), FIRST
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[status]}", markup=False, table_column=Column(no_wrap=True)),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task(title, total=total, completed=start, status="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def show(self, done: int, status: str) -> None:
        """Show that one more thing is done. The total grows if more things are done than were expected."""
        self.total = max(self.total, done)
        self.bar.update(self.task, completed=done, total=self.total, status=status)
        elapsed = time.monotonic() - self.begun
        if not self.console.is_terminal and elapsed >= (FIRST if done == self.total else self.due):
            left = elapsed / max(done - self.start, 1) * (self.total - done)
            print(f"{self.unit} {done}/{self.total}  {status}  {left:.0f} s left", file=sys.stderr)
            self.due = elapsed * LONGER + FIRST
