"""Model answer: the gradient of GRPO's loss."""

import numpy as np


def grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Return the derivative of the loss with respect to each token's log-probability."""
    mask = np.asarray(mask, dtype=float)
    # Padding may hold NaN, and 0 times NaN is NaN, so replace it first.
    log_probs, old, ref = (
        np.where(mask > 0, np.asarray(values, dtype=float), 0.0)
        for values in (log_probs, old_log_probs, ref_log_probs)
    )
    advantages = np.asarray(advantages, dtype=float)[:, None]
    ratio = np.exp(log_probs - old)
    too_high = (advantages > 0) & (ratio > 1 + clip)
    too_low = (advantages < 0) & (ratio < 1 - clip)
    surrogate_slope = np.where(too_high | too_low, 0.0, ratio * advantages)
    # The slope of k3 is 1 - exp(-v).
    penalty_slope = -np.expm1(ref - log_probs)
    weights = mask / mask.sum(-1, keepdims=True) / len(mask)
    return -weights * (surrogate_slope - kl_coef * penalty_slope)
