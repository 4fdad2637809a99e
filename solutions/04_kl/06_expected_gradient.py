"""Model answer: whose gradient is unbiased."""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """The gradient of the KL, and what each estimator's gradient is on average."""
    # solution
    logits = np.asarray(logits, dtype=float)
    log_probs = logits - logits.max()
    log_probs = log_probs - np.log(np.exp(log_probs).sum())
    probs, v = np.exp(log_probs), log_probs - np.asarray(ref_log_probs, dtype=float)
    slopes = {"kl": v, "k1": np.ones_like(v), "k2": v, "k3": -np.expm1(-v)}
    return {name: probs * (slope - (probs * slope).sum()) for name, slope in slopes.items()}
    # end
