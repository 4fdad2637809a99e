"""Model answer: the token mean."""

import numpy as np


def token_mean(values, mask):
    """Return the mean over all tokens of the batch."""
    # solution
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    # Padding may hold NaN, and NaN times 0 is NaN: replace it instead of multiplying by the mask.
    return float(np.where(mask, values, 0.0).sum() / max(mask.sum(), 1))
    # end
