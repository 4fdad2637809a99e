"""Model answer: the GRPO objective of one group."""

import numpy as np


def grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    """Return the clipped surrogate of one group minus beta times the KL to the reference."""
    rhos, A = np.asarray(rhos, dtype=float), np.asarray(A, dtype=float)
    old, ref = np.asarray(pi_theta_old, dtype=float), np.asarray(pi_theta_ref, dtype=float)
    # NumPy would broadcast an array of length 1.
    if not len(rhos) == len(A) == len(old) == len(ref):
        raise ValueError(f"expected equal lengths, got {len(rhos)}, {len(A)}, {len(old)} and {len(ref)}")
    clipped = np.clip(rhos, 1 - epsilon, 1 + epsilon)
    surrogate = np.minimum(rhos * A, clipped * A).mean()
    policy = rhos * old
    policy = policy / policy.sum()
    reference = ref / ref.sum()
    kl = (policy * np.log(policy / reference + 1e-10)).sum()
    return float(surrogate - beta * kl)
