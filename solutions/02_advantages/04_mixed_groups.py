"""Model answer: which groups teach anything?"""

import numpy as np


def mixed_groups(rewards):
    """Whether the completions of each group differ in reward."""
    rewards = np.asarray(rewards)
    return rewards.max(-1) != rewards.min(-1)
