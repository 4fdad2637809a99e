"""Faults of released trainers that were fixed later, to recognize them in old results."""

from typing import NamedTuple

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating
from grpo_ref.surrogates import clipped


class Released(NamedTuple):
    """Result of the trainer before the fix.

    Attributes:
      loss: the loss, a number.
      gradient: (..., T) gradient with respect to log_probs, nonzero on padding if the fault reads the
        padding.
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
    """Return TRL's LUSPO loss before PR #6654, which averages over all positions, padding included.

        L = -mean over all B T positions of sᵢₜ |oᵢ|

    A completion counts with the square of its length, and the padding receives a gradient.

    Args:
      log_probs, old_log_probs: (..., T) in nats; the padding is read.
      advantages: broadcastable to (..., T).
      mask: (..., T) 1 on completion tokens.
      clip_low, clip_high: as in `clipped`.

    TRL 1.10.0.dev0; fixed by huggingface/trl PR #6654.
    """
    xp = array_namespace(log_probs, mask)
    term = clipped(log_probs - old_log_probs, advantages, clip_low=clip_low, clip_high=clip_high)
    lengths = xp.sum(as_floating(mask), axis=TOKENS, keepdims=True)
    weights = -lengths / log_probs.size + xp.zeros_like(log_probs)
    return Released(xp.sum(weights * term.value), weights * term.slope)
