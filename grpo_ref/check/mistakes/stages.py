"""Wrong stages of the toy loop. A wrong answer of an exercise is `replace(RIGHT, stage=...)`.

`ToyLoop` describes the arguments of each stage. Some wrong stages are kernels of the library that are right
elsewhere, such as a sum in place of a mean; these are not repeated here. Summaries describe the mistake.
"""

from typing import Any

import numpy as np

from grpo_ref.check.mistakes.toy_loop import arms
from grpo_ref.learning.policies.table import scatter_add


def greedy(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """Take the most likely arm instead of a sample."""
    states, tokens, mask = arms(probs, uniforms)
    return states, np.broadcast_to(probs.argmax(-1)[:, None, None], tokens.shape), mask


def batch_baseline(rewards: Any) -> Any:
    """Subtract the mean of the whole batch instead of the group's mean."""
    return rewards - rewards.mean()


def never_clipped(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """Never clip: return the slope of ratio times advantage for every ratio."""
    return np.exp(log_ratio) * advantages


def no_ratio(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """Ignore the ratio: return the slope of plain REINFORCE."""
    return advantages + 0.0 * log_ratio


def everywhere(mask: Any) -> Any:
    """Give the padding the same weight as the tokens."""
    return np.full(mask.shape, 1.0 / mask.size)


def repeats_lost(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """Assign the gradient of the chosen entries instead of adding it: only one of several visits counts."""
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    visits = scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1))
    return table - visits * probs


def one_hot_only(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """Forget the probabilities in the gradient of the softmax."""
    return scatter_add(gradient, states, tokens, probs.shape)
