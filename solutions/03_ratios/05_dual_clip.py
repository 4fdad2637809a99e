"""Model answer: the dual clip."""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """PPO's clipped surrogate with a lower limit where the advantage is negative."""
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    clipped = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages)
    return np.where(advantages < 0, np.maximum(clipped, max_ratio * advantages), clipped)
