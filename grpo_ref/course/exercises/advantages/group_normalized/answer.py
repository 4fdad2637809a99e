"""Model answer: compare each completion with its group."""

import numpy as np


def group_advantages(rewards, eps=1e-4):
    """Return the normalized advantage of each completion."""
    # solution
    rewards = np.asarray(rewards, dtype=float)
    mean = rewards.mean(-1, keepdims=True)
    std = rewards.std(-1, keepdims=True)
    return (rewards - mean) / (std + eps)
    # end
