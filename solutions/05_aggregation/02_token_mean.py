"""Model answer: every token counts the same."""

import numpy as np


def token_mean(values, mask):
    """Mean over all tokens of the batch."""
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    return float(np.where(mask, values, 0.0).sum() / max(mask.sum(), 1))
