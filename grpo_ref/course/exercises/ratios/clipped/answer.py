"""Model answer: the clipped surrogate."""

import numpy as np


def clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2):
    """PPO's clipped surrogate, one value per token."""
    # solution
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return np.minimum(ratio * advantages, np.clip(ratio, 1 - clip_low, 1 + clip_high) * advantages)
    # end
