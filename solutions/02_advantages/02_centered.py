"""Model answer: only take the mean off."""

import numpy as np


def centered_advantages(rewards):
    """How much better than the mean of its group was each completion?"""
    rewards = np.asarray(rewards, dtype=float)
    return rewards - rewards.mean(-1, keepdims=True)
