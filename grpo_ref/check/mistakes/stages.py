"""Stages of the toy loop that are wrong: a wrong answer of an exercise is `replace(RIGHT, stage=...)`.

A stage is called as `ToyLoop` says. Kernels that are right elsewhere, such as raw rewards for an advantage or
a sum for a mean, are taken from the library itself.
"""

from typing import Any

import numpy as np

from grpo_ref.check.mistakes.toy_loop import arms
from grpo_ref.learning.policies.table import scatter_add


def greedy(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """The likeliest arm is taken instead of a sample."""
    states, tokens, mask = arms(probs, uniforms)
    return states, np.broadcast_to(probs.argmax(-1)[:, None, None], tokens.shape), mask


def batch_baseline(rewards: Any) -> Any:
    """The mean of the whole batch is taken off instead of the group's."""
    return rewards - rewards.mean()


def never_clipped(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """The slope of ratio times advantage, wherever the ratio is."""
    return np.exp(log_ratio) * advantages


def no_ratio(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """The slope of plain REINFORCE, whatever the ratio."""
    return advantages + 0.0 * log_ratio


def everywhere(mask: Any) -> Any:
    """The padding is trained as well."""
    return np.full(mask.shape, 1.0 / mask.size)


def repeats_lost(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """The chosen entries are assigned, not added up: of several visits to an entry, one counts."""
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    visits = scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1))
    return table - visits * probs


def one_hot_only(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """The probabilities are left out of the softmax's gradient."""
    return scatter_add(gradient, states, tokens, probs.shape)
