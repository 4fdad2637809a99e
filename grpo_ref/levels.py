"""Levels: the importance ratio per token, or one for the whole completion.

A level is a linear map from log-ratios to log-ratios of the same shape. Its matrix is symmetric, so the
backward pass (the transposed matrix) is the same function. So GSPO needs no code for its gradient.
"""

from grpo_ref.arrays import TOKENS, Array, array_namespace, masked_mean, masked_sum, where_mask


def token_level(log_ratio: Array, mask: Array) -> Array:
    """Every token keeps its own ratio: PPO, GRPO, DAPO.

        zₜ = log rₜ

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding (mask 0) may have any value, NaN included.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), exactly 0 on padding.
    """
    return where_mask(mask, log_ratio)


def sequence_mean_level(log_ratio: Array, mask: Array) -> Array:
    """All tokens of a completion share one length-normalized sequence ratio: GSPO.

        zₜ = (1/|o|) Σₛ log rₛ,    so exp(z) is the geometric mean of the token ratios

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding (mask 0) may have any value, NaN included.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), constant over each completion and exactly 0 on padding.

    Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071); TRL `importance_sampling_level="sequence"`.
    """
    mean = masked_mean(log_ratio, mask, axis=TOKENS, keepdims=True)
    return where_mask(mask, mean + array_namespace(log_ratio).zeros_like(log_ratio))


def sequence_sum_level(log_ratio: Array, mask: Array) -> Array:
    """All tokens of a completion share the full sequence ratio, the unbiased importance weight.

        zₜ = Σₛ log rₛ,    so exp(z) = πθ(o) / πold(o)

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding (mask 0) may have any value, NaN included.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), constant over each completion and exactly 0 on padding.
    """
    total = masked_sum(log_ratio, mask, axis=TOKENS, keepdims=True)
    return where_mask(mask, total + array_namespace(log_ratio).zeros_like(log_ratio))
