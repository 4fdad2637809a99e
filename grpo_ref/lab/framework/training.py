"""Training runs for most arms, with some metrics kept as curves and as means."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.training import iter_train

LAST_PART = 0.2
"""Fraction of the updates, at the end of training, over which a curve's final value is averaged."""


def trained(
    *,
    task: Callable[..., Task],
    recipe: Recipe,
    record: Sequence[str],
    seeds: int,
    seed: int,
    task_options: Mapping[str, Any] | None = None,
    drawn: bool = False,
    **config: Any,
) -> Measures:
    """Train, and return the curves of some metrics with their means.

    Args:
      task: function that returns the task, called with task_options.
      recipe: the recipe.
      record: metrics of `train` to keep.
      seeds, seed: number of independent runs; base seed of their random numbers.
      task_options: settings of the task.
      drawn: if true, sample the task from its distribution by task(seed=base seed).
      config: fields of `TrainConfig`, on top of the task's own settings.

    Returns:
      The measures of `summarized`.
    """
    made = task(**(task_options or {}), **({"seed": seed} if drawn else {}))
    return summarized(curves(made, recipe, config_for(made, seeds=seeds, seed=seed, **config), record))


def curves(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    record: Sequence[str] = (),
    **measured: Callable[[TrainState], Floats],
) -> dict[str, Floats]:
    """Train and return some curves: name -> (S, ..., U), the last axis over updates.

    Only the metrics that are kept are computed, so that `train` can use the fast loop.

    Args:
      task, recipe, config: as in `train`.
      record: names of metrics to keep, (S,) each.
      measured: name -> function of the state after each update, which returns (S, ...).
    """
    return kept(iter_train(task, recipe, config, metrics=record), record, measured)


def kept(
    updates: Iterable[Update], record: Sequence[str], measured: Mapping[str, Callable[[TrainState], Floats]]
) -> dict[str, Floats]:
    """Return the curves of `curves` from the updates that a training loop yields."""
    rows = [
        [*(metrics[name] for name in record), *(measure(state) for measure in measured.values())]
        for metrics, state in updates
    ]
    columns = (np.moveaxis(np.array(column), 0, -1) for column in zip(*rows, strict=True))
    return dict(zip((*record, *measured), columns, strict=True))


def last_state(task: Task, recipe: Recipe, config: TrainConfig) -> TrainState:
    """Train and return the last state, with the fast loop if `train` can use it."""
    (update,) = deque(iter_train(task, recipe, config, metrics=()), maxlen=1)
    return update.state


def summarized(found: Mapping[str, Floats]) -> Measures:
    """Return curves (S, U) with their means: "final" over the last fifth of the updates, "mean" over all.

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


def along(path: Floats, curve: Floats, places: Sequence[float]) -> Floats:
    """Return (S, places) a curve's values where a path first reaches each place; NaN if it never does.

    Args:
      path, curve: (S, U) over updates, such as the KL to the reference and a reward.
      places: values of the path, in its units.

    >>> along(np.array([[0.0, 2.0, 1.0]]), np.array([[5.0, 7.0, 9.0]]), (1.0, 3.0)).tolist()
    [[6.0, nan]]
    """
    farthest = np.maximum.accumulate(path, axis=-1)
    reached = [np.interp(places, run, one, right=np.nan) for run, one in zip(farthest, curve, strict=True)]
    return np.stack(reached)
