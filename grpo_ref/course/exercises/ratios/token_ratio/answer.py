"""Model answer: how much likelier has this token become."""

import numpy as np


def token_ratio(log_probs, old_log_probs, mask):
    """The ratio of each token, 1 on padding."""
    # solution
    is_token = np.asarray(mask) > 0
    log_ratio = np.where(is_token, log_probs, 0.0) - np.where(is_token, old_log_probs, 0.0)
    return np.exp(log_ratio)
    # end
