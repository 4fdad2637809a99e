"""Model answer: a weight that is capped, and a gradient that never dies."""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """The derivative of the surrogate with respect to log πθ, the weight held constant."""
    ratio = np.exp(np.asarray(log_ratio, dtype=float))
    return np.minimum(ratio, max_ratio) * np.asarray(advantages, dtype=float)
