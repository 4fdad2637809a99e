"""Faults that trainers were released with and have mended since, to recognize them in old results."""

from typing import NamedTuple

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating
from grpo_ref.kernels.surrogates import clipped


class Released(NamedTuple):
    """What the trainer computed before it was mended.

    Attributes:
      loss: a number.
      gradient: (..., T) with respect to log_probs, on the padding too if it leaked.
    """

    loss: Array
    gradient: Array


def luspo_before_6654(
    log_probs: Array,
    old_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Released:
    """TRL's LUSPO before PR #6654: every position counts, padding included, times its completion's length.

        L = -mean over all B T positions of sᵢₜ |oᵢ|

    A long completion counts with the square of its length, and what stands in the padding is trained.

    Args:
      log_probs, old_log_probs: (..., T) in nats; the padding is read.
      advantages: broadcastable to (..., T).
      mask: (..., T) 1 on completion tokens.
      clip_low, clip_high: as in `clipped`.

    TRL 1.10.0.dev0; mended by huggingface/trl PR #6654.
    """
    xp = array_namespace(log_probs, mask)
    term = clipped(log_probs - old_log_probs, advantages, clip_low=clip_low, clip_high=clip_high)
    lengths = xp.sum(as_floating(mask), axis=TOKENS, keepdims=True)
    weights = -lengths / log_probs.size + xp.zeros_like(log_probs)
    return Released(xp.sum(weights * term.value), weights * term.slope)
