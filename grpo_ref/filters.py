"""Filters: which groups take part in the update."""

from grpo_ref.arrays import TOKENS, Array, array_namespace


def all_groups(rewards: Array) -> Array:
    """Every group takes part.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) all True.
    """
    xp = array_namespace(rewards)
    return xp.ones(rewards.shape[:-1], dtype=xp.bool)


def mixed_groups(rewards: Array) -> Array:
    """Only groups whose completions differ in reward: the others have zero advantage and teach nothing.

        keep = max(r) ≠ min(r)

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True where the group is mixed.

    Yu et al. 2025, DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476); Open Instruct
    `filter_zero_std_samples`.

    >>> import numpy as np
    >>> mixed_groups(np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([ True, False])
    """
    xp = array_namespace(rewards)
    return xp.max(rewards, axis=TOKENS) != xp.min(rewards, axis=TOKENS)
