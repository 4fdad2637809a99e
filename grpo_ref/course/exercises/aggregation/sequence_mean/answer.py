"""Model answer: the mean of means."""

import numpy as np


def sequence_mean(values, mask):
    """Return the mean over the completions of the mean over their tokens."""
    # solution
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    # The sum of a completion without tokens is 0; divided by 1, it stays 0.
    lengths = np.maximum(mask.sum(-1), 1)
    return float((np.where(mask, values, 0.0).sum(-1) / lengths).mean())
    # end
