"""What the fast loop measures: metrics that need only the batch as it was drawn."""

from collections.abc import Callable
from typing import Any

from grpo_ref.arrays import Floats
from grpo_ref.kernels.metrics import mean_length, reward_width
from grpo_ref.learning.tasks.task import Task

MEASURES: dict[str, Callable[[Any], Floats]] = {
    "reward": lambda batch: batch.rewards.mean((-2, -1)),
    "length": lambda batch: mean_length(batch.mask),
    "truncated": lambda batch: 1.0 - batch.ended.mean((-2, -1)),
    "reward_width": lambda batch: reward_width(batch.rewards),
}
"""The metrics that need nothing but the batch as it was drawn; `measured` adds the task's criteria."""


def fast_metrics(task: Task) -> tuple[str, ...]:
    """The names of the metrics that this loop gives for the task."""
    return tuple(dict.fromkeys((*task.criteria, *MEASURES)))


def measured(name: str, task: Task, batch: Any) -> Floats:
    """(S,) one metric of the batch as it was drawn."""
    if name in MEASURES:
        return MEASURES[name](batch)
    of_criterion: Floats = batch.components[..., task.criteria.index(name)].mean((-2, -1))
    return of_criterion
