"""Model answer: the expected gradient of each KL estimate."""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """Return the gradient of the KL and the expected gradients of k1, k2 and k3, by name."""
    # solution
    logits = np.asarray(logits, dtype=float)
    log_probs = logits - logits.max()
    log_probs = log_probs - np.log(np.exp(log_probs).sum())
    probs, ref = np.exp(log_probs), np.asarray(ref_log_probs, dtype=float)
    # The products of π and the slopes. For k3 this is π (1 - e⁻ᵛ) = π - πref, which cannot overflow.
    weighted_v = probs * (log_probs - ref)
    products = {"kl": weighted_v, "k2": weighted_v, "k3": probs - np.exp(ref)}
    gradients = {name: product - probs * product.sum() for name, product in products.items()}
    return {**gradients, "k1": np.zeros(len(probs))}
    # end
