"""Model answer: every answer counts the same."""

import numpy as np


def sequence_mean(values, mask):
    """Mean over completions of the mean over their tokens."""
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    lengths = np.maximum(mask.sum(-1), 1)
    return float((np.where(mask, values, 0.0).sum(-1) / lengths).mean())
