"""A kernel of the Tinker cookbook: a KL in the advantage of each token."""

from grpo_ref.advantages import group_centered
from grpo_ref.arrays import BATCH, Array, masked_sum, where_mask


def centered_less_kl(
    rewards: Array, mask: Array, old_log_probs: Array, ref_log_probs: Array, *, kl_coef: float
) -> Array:
    """Center the rewards within their groups, and subtract each token's KL less its mean over the batch.

        Aₜ = (r - mean r) + kl_coef (mean d - dₜ),    dₜ = log q - log πref

    The mean of d is taken over all tokens of the batch, so the advantages of a batch keep their sum.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs: (P, G, T) of the sampler q, in nats.
      ref_log_probs: (P, G, T) of the reference, in nats.
      kl_coef: kl_penalty_coef.

    Returns:
      (P, G, T) advantages, 0 on padding.

    tinker_cookbook `incorporate_kl_penalty`.
    """
    apart = where_mask(mask, old_log_probs - ref_log_probs)
    mean = masked_sum(apart, mask, axis=BATCH, keepdims=True) / masked_sum(
        apart * 0.0 + 1.0, mask, axis=BATCH, keepdims=True
    )
    return where_mask(mask, group_centered(rewards)[..., None] + kl_coef * (mean - apart))
