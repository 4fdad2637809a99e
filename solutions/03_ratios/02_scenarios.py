"""Model answer: the four scenarios of a token."""

import numpy as np


def scenarios(ratio, advantages, clip=0.2):
    """Scenario of each token, and True for each token that still learns."""
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    scenario = np.zeros(ratio.shape, dtype=int)
    scenario[(ratio > 1) & (advantages > 0)] = 1
    scenario[(ratio > 1) & (advantages < 0)] = 2
    scenario[(ratio < 1) & (advantages > 0)] = 3
    scenario[(ratio < 1) & (advantages < 0)] = 4
    good = (advantages > 0) & (ratio <= 1 + clip)
    bad = (advantages < 0) & (ratio >= 1 - clip)
    return scenario, good | bad
