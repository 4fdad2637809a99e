"""Kernels of Tunix: a mean of limited log-ratios, and a length penalty that counts characters."""

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.levels import sequence_mean_level

LARGEST = 20.0
"""Limit of each token's absolute log-ratio."""


def mean_of_limited(log_ratio: Array, mask: Array) -> Array:
    """Compute `sequence_mean_level` of log-ratios that are limited token by token before the mean.

        zₜ = (1/|o|) Σₛ clip(log rₛ, -20, 20)

    This is not a linear map. It goes with a surrogate whose slope is direct.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding may hold anything, NaN included.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), constant over each completion and exactly 0 on padding.

    Tunix `grpo_loss_fn` with loss_algo "gspo-token".
    """
    return sequence_mean_level(array_namespace(log_ratio).clip(log_ratio, -LARGEST, LARGEST), mask)


def punished_by_characters(
    rewards: Array, lengths: Array, *, budget: int = 20480, tail: int = 4096, factor: float = 1.0
) -> Array:
    """Subtract DAPO's length penalty without its floor, for the characters of the text instead of its tokens.

        r + min(-factor (n - (budget - tail)) / tail, 0),    n the characters of the completion

    Args:
      rewards: (P, G).
      lengths: (P, G) lengths of the texts, in characters.
      budget, tail, factor: max_response_length, overlong_buffer_length and overlong_buffer_penalty.

    Returns:
      (P, G) rewards.

    Tunix `reward_shaping`, an additional reward function of `DAPOLearner`.
    """
    xp = array_namespace(rewards, lengths)
    excess = (lengths - (budget - tail)) / tail
    return rewards + xp.minimum(-factor * excess, xp.zeros_like(rewards))
