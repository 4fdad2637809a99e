"""The sets over which several trainers average."""

from grpo_ref.explain.dialect import Averages

WHOLE_STEP = Averages("the batch of a step, all ranks and micro-batches together", over="step")
EACH_MICRO_BATCH = Averages("each micro-batch of each rank, and then over these", over="micro-batch")
BY_COMPLETIONS = Averages(
    "each micro-batch of each rank, and then over these by their completions",
    over="micro-batch",
    across="completions",
)
