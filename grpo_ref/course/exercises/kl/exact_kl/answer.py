"""Model answer: the exact KL."""

import numpy as np


def exact_kl(probs, ref_probs):
    """Return KL(policy ‖ reference) of each row, in nats."""
    # solution
    probs, ref_probs = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
    possible = probs > 0
    # The logarithm of 0 is avoided: impossible tokens get log 1 = 0.
    log_ratio = np.log(np.where(possible, probs, 1.0)) - np.log(np.where(possible, ref_probs, 1.0))
    return (probs * log_ratio).sum(-1)
    # end
