"""The history of a finished training run: its metrics as a sequence, a table or text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import Recipe

SHOWN = ("reward", "entropy", "kl", "grad_norm")
"""The metrics that a printed history shows."""
ROWS = 10
"""The number of updates that a printed history shows."""


@dataclass(frozen=True, eq=False)
class History(Sequence[Mapping[str, Floats]]):
    """A finished training run: the metrics of every update and the final state.

    A history is a sequence with one entry per update, each a mapping from metric to (S,) values, one per
    seed. So it can be drawn with `grpo_ref.plots.plot_dynamics({"GRPO": history}, "run.png")`. `columns()`
    suits `pandas.DataFrame`, and `print(history)` shows a table.

    Attributes:
      task: name of the task.
      recipe: the algorithm.
      config: sizes, step sizes and number of updates.
      metrics: name -> (U, S) array, one row per update and one column per seed.
      state: after the last update; `iter_train(..., state=history.state)` continues from it.
    """

    task: str
    recipe: Recipe
    config: TrainConfig
    metrics: Mapping[str, Floats]
    state: TrainState

    def __len__(self) -> int:
        return self.config.updates

    def __getitem__(self, update: Any) -> Any:
        if isinstance(update, slice):
            return [self[index] for index in range(*update.indices(len(self)))]
        return {name: values[update] for name, values in self.metrics.items()}

    def columns(self) -> dict[str, Floats]:
        """Return the columns of the run's table: "update", then the mean of each metric over the seeds."""
        means = {name: values.mean(axis=1) for name, values in self.metrics.items()}
        return {"update": np.arange(1, len(self) + 1)} | means

    def __str__(self) -> str:
        names = [name for name in SHOWN if name in self.metrics] or list(self.metrics)[: len(SHOWN)]
        table = self.columns()
        rows = np.unique(np.linspace(0, len(self) - 1, min(ROWS, len(self))).astype(int))
        lines = [f"{self.task}: {len(self)} updates, means of {self.config.seeds} seeds"]
        lines.append("update" + "".join(f"{name:>12}" for name in names))
        lines += [f"{row + 1:6d}" + "".join(f"{table[name][row]:12.3f}" for name in names) for row in rows]
        return "\n".join(lines)

    __repr__ = __str__
