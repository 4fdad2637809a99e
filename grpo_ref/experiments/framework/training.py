"""What most arms run: training, of which some numbers are kept, each as a curve and as its mean."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Measures
from grpo_ref.learning.config import config_for
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.training import train

LAST_PART = 0.2
"""The share of the updates, at the end of training, over which a curve is averaged into its final value."""


def trained(
    *,
    task: Callable[..., Task],
    recipe: Recipe,
    record: Sequence[str],
    seeds: int,
    seed: int,
    task_options: Mapping[str, Any] | None = None,
    **config: Any,
) -> Measures:
    """Train, and keep the curves of some metrics.

    Args:
      task: makes the task; called with task_options.
      recipe: the algorithm.
      record: metrics of `train` to keep.
      seeds, seed: number of independent runs, and the base of their random numbers.
      task_options: settings of the task.
      config: fields of `TrainConfig`, on top of the task's own settings.

    Returns:
      The measures of `summarized`.
    """
    made = task(**(task_options or {}))
    updates = train(made, recipe, config_for(made, seeds=seeds, seed=seed, **config))
    return summarized(curves(updates, record))


def curves(
    updates: Iterable[Update], metrics: Sequence[str] = (), **measured: Callable[[TrainState], Floats]
) -> dict[str, Floats]:
    """Follow a training: name -> (S, ..., U), the last axis over updates.

    Args:
      updates: as `train` yields them.
      metrics: names of metrics to keep, (S,) each.
      measured: name -> what is computed from the state after each update, (S, ...).
    """
    rows = [
        [*(metrics_now[name] for name in metrics), *(measure(state) for measure in measured.values())]
        for metrics_now, state in updates
    ]
    columns = (np.moveaxis(np.array(column), 0, -1) for column in zip(*rows, strict=True))
    return dict(zip((*metrics, *measured), columns, strict=True))


def last(updates: Iterable[Update]) -> TrainState:
    """The state at the end of training, with no other kept in memory."""
    (update,) = deque(updates, maxlen=1)
    return update.state


def summarized(found: Mapping[str, Floats]) -> Measures:
    """Curves (S, U) and their means: "final" over the last fifth of the updates, "mean" over all.

    >>> {name: values.tolist() for name, values in summarized({"reward": np.array([[0.0, 1.0]])}).items()}
    {'reward': [[0.0, 1.0]], 'final reward': [1.0], 'mean reward': [0.5]}
    """
    measures: Measures = {}
    for name, curve in found.items():
        final = max(round(LAST_PART * curve.shape[-1]), 1)
        measures |= {
            name: curve,
            f"final {name}": curve[:, -final:].mean(-1),
            f"mean {name}": curve.mean(-1),
        }
    return measures
