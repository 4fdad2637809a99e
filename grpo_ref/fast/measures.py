"""Metrics of the fast loop: those that need only the sampled batch."""

from grpo_ref.learning.curves import OF_COMPLETIONS
from grpo_ref.learning.task import Task


def fast_metrics(task: Task) -> tuple[str, ...]:
    """Return the names of the metrics that the fast loop computes for a task."""
    return tuple(dict.fromkeys((*task.criteria, *OF_COMPLETIONS)))
