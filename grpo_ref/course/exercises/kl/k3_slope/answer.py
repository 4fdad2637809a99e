"""Model answer: which KL does it really pull on?"""

import numpy as np


def k3_slope(log_probs, ref_log_probs):
    """The derivative of k3 with respect to log_probs."""
    # solution
    v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
    return -np.expm1(-v)
    # end
