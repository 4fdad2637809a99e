"""The clip of trainers that accept bounds of any size and order."""

import math

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.types import Term


def clipped_as_given(
    log_ratio: Array, advantages: Array, *, clip_low: float, clip_high: float, max_ratio: float = math.inf
) -> Term:
    """Return `two_sided_clipped` for bounds of any size and order. The upper bound wins.

        sₜ = min(min(rₜ, max_ratio) A, clip(rₜ, 1 - clip_low, 1 + clip_high) A),   rₜ = exp(log_ratio)

    If both bounds are on one side of 1, either branch may be the smaller one, so the branches are compared.
    Where they are equal, the slope is the mean of both slopes, as in `torch.min`.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: half-widths of any size and sign.
      max_ratio: upper bound of the ratio, of any size; TRL's delta.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    TRL `GRPOTrainer._compute_loss` and oat `PPOLearner.learning_step`, which do not check the bounds.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    low, high = 1.0 - clip_low, 1.0 + clip_high
    free = xp.where(ratio > max_ratio, max_ratio, ratio) * advantages
    bound = xp.clip(ratio, min(low, high), high) * advantages
    free_slope = xp.where(ratio > max_ratio, 0.0, free)
    bound_slope = xp.where((ratio >= low) & (ratio <= high), bound, 0.0)
    equal = xp.where(free == bound, 0.5 * (free_slope + bound_slope), bound_slope)
    return Term(value=xp.minimum(free, bound), slope=xp.where(free < bound, free_slope, equal))
