"""Model answer: SAPO's soft gate."""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """SAPO's surrogate and its slope with respect to the log-ratio."""
    # solution
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.where(advantages > 0, tau_positive, tau_negative)
    distance = tau * (ratio - 1)
    # 1 - gate would lose all digits where the gate is nearly 1.
    gate, rest = 1 / (1 + np.exp(-distance)), 1 / (1 + np.exp(distance))
    return 4 / tau * gate * advantages, 4 * gate * rest * ratio * advantages
    # end
