"""Model answer: a soft gate instead of a cliff."""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """Value and slope of the softly gated surrogate."""
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.where(advantages > 0, tau_positive, tau_negative)
    distance = tau * (ratio - 1)
    gate, rest = 1 / (1 + np.exp(-distance)), 1 / (1 + np.exp(distance))
    return 4 / tau * gate * advantages, 4 * gate * rest * ratio * advantages
