"""What most arms run: training with some metrics kept, each as a curve and as a number or two."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Measures
from grpo_ref.learning.config import config_for
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.training import train

END = 0.2
"""The last part of training over which a curve is averaged into its final value."""


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
    """Train and keep curves.

    Args:
      task: makes the task; called with task_options.
      recipe: the algorithm.
      record: metrics of `train` to keep.
      seeds, seed: independent runs, and the base of their random numbers.
      task_options: settings of the task.
      config: fields of `TrainConfig`, on top of the task's own settings.

    Returns:
      For each recorded name: name -> (S, U), "final name" -> (S,) its mean over the last fifth of the
      updates, "mean name" -> (S,) its mean over all updates.
    """
    made = task(**(task_options or {}))
    updates = train(made, recipe, config_for(made, seeds=seeds, seed=seed, **config))
    history = [[update.metrics[name] for name in record] for update in updates]
    return summarised(dict(zip(record, np.moveaxis(np.array(history), 0, -1), strict=True)))


def summarised(curves: Mapping[str, Floats]) -> Measures:
    """The curves (S, U), and of each its mean over the last fifth and over all.

    >>> {name: values.tolist() for name, values in summarised({"reward": np.array([[0.0, 1.0]])}).items()}
    {'reward': [[0.0, 1.0]], 'final reward': [1.0], 'mean reward': [0.5]}
    """
    measures: Measures = {}
    for name, curve in curves.items():
        last = max(round(END * curve.shape[-1]), 1)
        measures |= {
            name: curve,
            f"final {name}": curve[:, -last:].mean(-1),
            f"mean {name}": curve.mean(-1),
        }
    return measures
