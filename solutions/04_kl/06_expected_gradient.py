"""Model answer: whose gradient is unbiased."""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """The gradient of the KL, and what each estimator's gradient is on average."""
    logits = np.asarray(logits, dtype=float)
    log_probs = logits - logits.max()
    log_probs = log_probs - np.log(np.exp(log_probs).sum())
    probs, ref = np.exp(log_probs), np.asarray(ref_log_probs, dtype=float)
    toward_reference = probs * (log_probs - ref)
    products = {"kl": toward_reference, "k2": toward_reference, "k3": probs - np.exp(ref)}
    gradients = {name: product - probs * product.sum() for name, product in products.items()}
    return {**gradients, "k1": np.zeros(len(probs))}
