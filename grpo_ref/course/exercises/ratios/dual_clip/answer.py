"""Model answer: a floor for bad tokens."""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """The clipped surrogate with a floor where the advantage is negative."""
    # solution
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    clipped = np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages)
    return np.where(advantages < 0, np.maximum(clipped, max_ratio * advantages), clipped)
    # end
