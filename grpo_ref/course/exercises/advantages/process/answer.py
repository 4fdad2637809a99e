"""Model answer: standardize the rewards of the steps, then add them from the right."""

import numpy as np


def process_advantages(step_rewards, step_ends, eps=1e-4):
    """Return the advantage of each token from the rewards of the steps."""
    # solution
    ends = np.asarray(step_ends) > 0
    rewards = np.where(ends, np.asarray(step_rewards, dtype=float), 0.0)
    count = np.maximum(ends.sum((1, 2), keepdims=True), 1)
    centered = np.where(ends, rewards - rewards.sum((1, 2), keepdims=True) / count, 0.0)
    std = np.sqrt((centered**2).sum((1, 2), keepdims=True) / count)
    scores = centered / (std + eps)
    return np.cumsum(scores[..., ::-1], axis=-1)[..., ::-1]
    # end
