"""Model answer: the slope of k3."""

import numpy as np


def k3_slope(log_probs, ref_log_probs):
    """Return the derivative of k3 with respect to log_probs, for every token."""
    # solution
    v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
    # If v is near 0, 1 - np.exp(-v) loses digits; -np.expm1(-v) does not.
    return -np.expm1(-v)
    # end
