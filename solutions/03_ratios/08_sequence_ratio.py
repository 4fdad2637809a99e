"""Model answer: GSPO's sequence ratio."""

import numpy as np


def sequence_ratio(log_ratio, mask):
    """Geometric mean of the token ratios of each completion."""
    log_ratio, mask = np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=float)
    # Average the logarithms: the product of the ratios may overflow.
    return np.exp(np.where(mask > 0, log_ratio, 0.0).sum(-1) / mask.sum(-1))
