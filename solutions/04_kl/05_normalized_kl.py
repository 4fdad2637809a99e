"""Model answer: the KL over one group."""

import numpy as np


def normalized_kl(rhos, pi_theta_old, pi_theta_ref):
    """Return the KL from the current policy to the reference, over the outcomes of one group."""
    policy = np.asarray(rhos, dtype=float) * np.asarray(pi_theta_old, dtype=float)
    reference = np.asarray(pi_theta_ref, dtype=float)
    policy, reference = policy / policy.sum(), reference / reference.sum()
    return float((policy * np.log(policy / reference + 1e-10)).sum())
