"""The sets over which several trainers average."""

from grpo_ref.explain.settings import Settings


def whole_step(settings: Settings) -> str:
    """Name the set of trainers that average over everything an optimizer step sees."""
    return "the batch of a step, all ranks and micro-batches together"
