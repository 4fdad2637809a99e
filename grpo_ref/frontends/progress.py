"""Live progress of a training run: a bar in a terminal, a line now and then in a pipe."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from grpo_ref.train import Metrics

LINES = 10
"""How many lines a run prints where there is no terminal."""


class Progress:
    """Shows reward, KL, entropy and the time left while the updates come in; written to standard error."""

    def __init__(self, title: str, updates: int, *, start: int) -> None:
        self.console = Console(file=sys.stderr)
        self.updates, self.start, self.begun = updates, start, time.monotonic()
        self.bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(compact=True),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task(title, total=updates, completed=start, status="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def show(self, update: int, metrics: Metrics) -> None:
        """One more update is done."""
        values = "  ".join(f"{name} {metrics[name].mean():.3f}" for name in ("reward", "kl", "entropy"))
        self.bar.update(self.task, completed=update, status=values)
        if not self.console.is_terminal and (
            update % max(self.updates // LINES, 1) == 0 or update == self.updates
        ):
            left = (time.monotonic() - self.begun) / (update - self.start) * (self.updates - update)
            print(f"update {update}/{self.updates}  {values}  {left:.0f} s left", file=sys.stderr)
