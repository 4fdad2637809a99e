"""Model answer: find the groups with different rewards."""

import numpy as np


def mixed_groups(rewards):
    """Return one truth value per group: do the rewards differ?"""
    # solution
    rewards = np.asarray(rewards)
    return rewards.max(-1) != rewards.min(-1)
    # end
