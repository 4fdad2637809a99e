"""Model answer: every prompt counts the same."""

import numpy as np


def group_token_mean(values, mask):
    """Mean over the tokens of each group, then over the groups."""
    # solution
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    sums = np.where(mask, values, 0.0).sum((1, 2))
    return float((sums / np.maximum(mask.sum((1, 2)), 1)).mean())
    # end
