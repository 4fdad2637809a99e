"""Model answer: the loss of GRPO."""

import numpy as np


def grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Return minus the mean of surrogate - penalty: over each completion, then over completions."""
    # solution
    mask = np.asarray(mask) > 0
    # Padding may hold NaN, and 0 times NaN is NaN, so replace it first.
    log_probs, old, ref = (
        np.where(mask, np.asarray(values, dtype=float), 0.0)
        for values in (log_probs, old_log_probs, ref_log_probs)
    )
    advantages = np.asarray(advantages, dtype=float)[:, None]
    ratio = np.exp(log_probs - old)
    surrogate = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages)
    v = log_probs - ref
    gain = np.where(mask, surrogate - kl_coef * (np.expm1(-v) + v), 0.0)
    return float(-(gain.sum(-1) / mask.sum(-1)).mean())
    # end
