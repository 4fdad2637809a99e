"""Model answer: the loss of DAPO."""

import numpy as np


def dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    """Return the loss with clip-higher and token mean, without the groups with equal rewards."""
    mask, rewards = np.asarray(mask) > 0, np.asarray(rewards, dtype=float)
    mean, std = rewards.mean(-1, keepdims=True), rewards.std(-1, keepdims=True)
    advantages = ((rewards - mean) / (std + 1e-4))[:, :, None]
    # The standard deviation of equal rewards may be rounded to a little more than 0.
    mixed = rewards.max(-1) != rewards.min(-1)
    keep = mask & mixed[:, None, None]
    # Padding may hold NaN or infinity.
    log_probs, old_log_probs = (np.where(mask, each, 0.0) for each in (log_probs, old_log_probs))
    ratio = np.exp(log_probs - old_log_probs)
    clipped = np.clip(ratio, 1 - clip_low, 1 + clip_high)
    surrogate = np.minimum(ratio * advantages, clipped * advantages)
    return float(-surrogate[keep].sum() / max(keep.sum(), 1))
