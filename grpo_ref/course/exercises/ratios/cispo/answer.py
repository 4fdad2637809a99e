"""Model answer: CISPO's capped weight."""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """Derivative of CISPO's surrogate with respect to log πθ. The weight is a constant."""
    # solution
    ratio = np.exp(np.asarray(log_ratio, dtype=float))
    return np.minimum(ratio, max_ratio) * np.asarray(advantages, dtype=float)
    # end
