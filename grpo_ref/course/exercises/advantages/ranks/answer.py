"""Model answer: count the better and the worse completions of the group."""

import numpy as np


def rank_advantages(rewards):
    """Return advantages from 2 for the best of a group down to -2 for the worst."""
    # solution
    rewards = np.asarray(rewards, dtype=float)
    ours, others = rewards[:, :, None], rewards[:, None, :]
    lead = (ours > others).sum(-1) - (ours < others).sum(-1)
    return 2.0 * lead / max(rewards.shape[-1] - 1, 1)
    # end
