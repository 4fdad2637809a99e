"""Sums of digits, learned with groups of any size: what the claims about the size of groups share."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Arm, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.recipes import TWO_GRPO

PROMPTS = 16
"""Prompts per batch where the size of the groups decides how many completions there are."""
PLAIN = replace(TWO_GRPO, kl_coef=0.0)
"""GRPO with the population's standard deviation, so that a pair gets -1 and 1, and no KL penalty."""
DESCRIPTION = (
    "The task is sums of the digits 0 to 3: 16 prompts with answers of two tokens, of which at first one in"
    " 121 is right. There are 100 updates with Adam, one step per batch, without a KL penalty."
)
MEASURED = (
    "The share of right completions: its final value, over the last fifth of the updates, and its mean over"
    " all updates, which is the larger the faster the task is learned."
)


def learning(group_size: int, prompts: int) -> Arm:
    """Training with so many completions per prompt and so many prompts per batch."""
    return arm(
        trained,
        task=arithmetic,
        task_options={"largest": 3, "max_length": 2},
        recipe=PLAIN,
        record=("correct",),
        updates=100,
        prompts=prompts,
        group_size=group_size,
        learning_rate=0.2,
    )


def label(group_size: int, prompts: int) -> str:
    """The name of the arm."""
    return f"{prompts} prompts x {group_size}"
