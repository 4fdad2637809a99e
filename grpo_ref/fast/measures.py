"""What the fast loop measures: metrics that need only the batch as it was drawn."""

from grpo_ref.learning.curves import OF_COMPLETIONS
from grpo_ref.learning.task import Task


def fast_metrics(task: Task) -> tuple[str, ...]:
    """The names of the metrics that this loop gives for the task."""
    return tuple(dict.fromkeys((*task.criteria, *OF_COMPLETIONS)))
