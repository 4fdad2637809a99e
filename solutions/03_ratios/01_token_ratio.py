"""Model answer: how much likelier has this token become."""

import numpy as np


def token_ratio(log_probs, old_log_probs, mask):
    """The ratio of each token, 1 on padding."""
    # solution
    difference = np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float)
    return np.exp(np.where(np.asarray(mask) > 0, difference, 0.0))
    # end
