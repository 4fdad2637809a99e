"""Loss functions as somebody else would write them, right and wrong ones."""

import numpy as np


def surrogate(log_probs, old, advantages, mask, low=0.2, high=0.28, gain=None):
    ratio = np.exp(np.where(mask > 0, log_probs - old, 0.0))
    advantages = advantages[:, None]
    smaller = np.minimum(ratio * advantages, np.clip(ratio, 1 - low, 1 + high) * advantages)
    return np.where(mask > 0, gain(ratio, advantages) if gain else smaller, 0.0)


def loss_with(average, **clip):
    def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        return -average(surrogate(log_probs, old_log_probs, advantages, mask, **clip), mask)

    return loss


def token_mean(x, mask):
    return x.sum() / max(mask.sum(), 1)


def sequence_mean(x, mask):
    return (x.sum(-1) / np.maximum(mask.sum(-1), 1)).mean()


def non_empty(x, mask):
    return (x.sum(-1) / np.maximum(mask.sum(-1), 1)).sum() / max((mask.sum(-1) > 0).sum(), 1)


def with_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, factor=1.0):
    """DAPO's loss with a manual gradient."""
    value = surrogate(log_probs, old_log_probs, advantages, mask)
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    good, bad = advantages[:, None] > 0, advantages[:, None] < 0
    held = (good & (ratio > 1.28)) | (bad & (ratio < 0.8))
    slope = np.where(held, 0.0, ratio * advantages[:, None]) * mask
    return -token_mean(value, mask), -factor * slope / max(mask.sum(), 1)
