"""What a type checker knows of the public names, read through the stub: `make types` checks this file."""

from collections.abc import Iterator
from typing import Any, assert_type

import grpo_ref
from grpo_ref import (
    GRPO,
    RECIPES,
    TASKS,
    Recipe,
    config_for,
    explain,
    iter_train,
    penalties,
    policy_loss,
    train,
)
from grpo_ref.explain.explanation import Report
from grpo_ref.history import History
from grpo_ref.learning.state import Update
from grpo_ref.loss import PolicyLoss

assert_type(RECIPES["grpo"], Recipe)
assert_type(GRPO, Recipe)
assert_type(penalties.__name__, str)
assert_type(grpo_ref.GRPO, Recipe)


def loss_of(log_probs: Any, advantages: Any, mask: Any) -> None:
    """The type of a loss."""
    assert_type(policy_loss(log_probs, advantages, mask, recipe=GRPO, old_log_probs=log_probs), PolicyLoss)


def training() -> None:
    """The type of a training."""
    task = TASKS["bandit"]()
    assert_type(iter_train(task, GRPO, config_for(task)), Iterator[Update])
    assert_type(train(task, "grpo", seeds=2), History)
    assert_type(explain("train.sh"), Report)
