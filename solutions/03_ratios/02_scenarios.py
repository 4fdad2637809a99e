"""Model answer: four scenarios, and which of them still learn."""

import numpy as np


def scenarios(ratio, advantages, clip=0.2):
    """The scenario of each token, and whether it still learns."""
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    scenario = np.zeros(ratio.shape, dtype=int)
    scenario[(ratio > 1) & (advantages > 0)] = 1
    scenario[(ratio > 1) & (advantages < 0)] = 2
    scenario[(ratio < 1) & (advantages > 0)] = 3
    scenario[(ratio < 1) & (advantages < 0)] = 4
    good = (advantages > 0) & (ratio <= 1 + clip)
    bad = (advantages < 0) & (ratio >= 1 - clip)
    return scenario, good | bad
