"""Model answer: compare each completion with the others of its group."""

import numpy as np


def leave_one_out(rewards):
    """Return each reward minus the mean of the other rewards of its group."""
    rewards = np.asarray(rewards, dtype=float)
    others = rewards.shape[-1] - 1
    if others == 0:
        return np.zeros_like(rewards)
    return rewards - (rewards.sum(-1, keepdims=True) - rewards) / others
