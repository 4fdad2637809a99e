"""Model answer: diagnose a run from its curves."""

import numpy as np


def diagnose(reward, truth, entropy):
    """Return one of: learning, reward hacking, wrong sign, collapse, no signal."""
    reward, truth, entropy = np.asarray(reward), np.asarray(truth), np.asarray(entropy)
    gained = reward[-10:].mean() - reward[:10].mean()
    meant = truth[-10:].mean() - truth[:10].mean()
    if gained < -0.1:
        return "wrong sign"
    if gained > 0.1:
        return "reward hacking" if meant < -0.1 else "learning"
    return "collapse" if entropy[-10:].mean() < 0.1 * entropy[:10].mean() else "no signal"
