"""Kernels of torchtune: a whole batch as one sequence, and a loss whose ratio is always 1."""

from grpo_ref.arrays import BATCH, Array, array_namespace, masked_sum, where_mask
from grpo_ref.types import Term


def batch_sum_level(log_ratio: Array, mask: Array) -> Array:
    """Share one ratio among all tokens of a batch.

        zₜ = Σ log r,    the sum over all tokens of all completions

    torchtune's sums lack an axis. Its own comments describe one ratio per completion.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding may hold anything, NaN included.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), constant over the batch and exactly 0 on padding.

    torchtune `GRPOCompletionLoss`.
    """
    total = masked_sum(log_ratio, mask, axis=BATCH, keepdims=True)
    return where_mask(mask, total + array_namespace(log_ratio).zeros_like(log_ratio))


def k3_of_the_batch(log_probs: Array, ref_log_probs: Array, mask: Array) -> Term:
    """Compute k3 of the summed log-probabilities of the whole batch, which is one number for all tokens.

        e⁻ᵛ - 1 + v,    v = Σ (log πθ - log πref)

    It goes with `batch_sum_level`, whose sum hands its slope to every token.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      Term of (P, G, T) arrays: the value and its slope in the batch's log-ratio.

    torchtune `GRPOCompletionLoss`.
    """
    xp = array_namespace(log_probs, ref_log_probs)
    apart = batch_sum_level(log_probs - ref_log_probs, mask)
    slope = -xp.expm1(-apart)
    return Term(value=apart - slope, slope=slope)


def at_ratio_one(log_probs: Array, advantages: Array) -> Term:
    """Compute the policy gradient with a value: the ratio to the policy being trained is 1.

        s = A exp(log πθ - sg[log πθ])

    Args:
      log_probs: (P, G, T) log πθ, in nats; only the shape is used.
      advantages: broadcastable to (P, G, T); constant with respect to θ.

    Returns:
      Term of (P, G, T) arrays: A, and A as the slope with respect to log_probs.

    torchtune `GRPOSimpleLoss` and `LinearGRPOLoss`.
    """
    gain = advantages + array_namespace(log_probs, advantages).zeros_like(log_probs)
    return Term(value=gain, direct=gain)
