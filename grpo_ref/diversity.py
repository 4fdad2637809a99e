"""Diversity: keeping the best of many completions, and noticing when a policy has only one left."""

from grpo_ref.arrays import MEMBERS, Array, array_namespace


def best_of_n(rewards: Array) -> Array:
    """Index of the completion with the highest reward in each group; the first one if several are equal.

    Args:
      rewards: (..., P, N) one row per prompt.

    Returns:
      (..., P) indices.

    >>> import numpy as np
    >>> best_of_n(np.array([[0.1, 0.7, 0.7]]))
    array([1])
    """
    return array_namespace(rewards).argmax(rewards, axis=MEMBERS)


def rejection_sampled(rewards: Array, *, keep: int) -> Array:
    """Mask of the completions with the highest rewards of each group (rejection sampling).

    Args:
      rewards: (..., P, N) one row per prompt.
      keep: number of completions that are kept in each group, 1 <= keep <= N. If rewards are equal, the first
        completions are kept.

    Returns:
      (..., P, N) True for the completions that are kept.

    Raises:
      ValueError: if keep is out of range.

    >>> import numpy as np
    >>> rejection_sampled(np.array([[0.1, 0.7, 0.5]]), keep=2)
    array([[False,  True,  True]])
    """
    if not 1 <= keep <= rewards.shape[MEMBERS]:
        raise ValueError(f"keep: expected 1 to {rewards.shape[MEMBERS]} completions of a group, got {keep}")
    xp = array_namespace(rewards)
    rank = xp.argsort(xp.argsort(-rewards, axis=MEMBERS, stable=True), axis=MEMBERS)
    return rank < keep


def has_collapsed(entropy: Array, distinct: Array, width: Array, *, share: float = 0.5) -> Array:
    """Warning of mode collapse: entropy, distinct n-grams and the std of the rewards have all fallen.

        for each: mean over the last tenth of the updates < share * mean over the first tenth

    If only one of them falls, that is a normal part of learning.

    Args:
      entropy, distinct, width: (U, ...) one row per update; the other axes are runs.
      share: limit of the ratio of the two means, 0 < share < 1.

    Returns:
      (...,) True where all three have fallen.

    A book chapter on GRPO (2026, not public), sec. 7.5.1, which names the three quantities but gives no
    number.
    """
    xp = array_namespace(entropy, distinct, width)
    tenth = max(entropy.shape[0] // 10, 1)
    fallen = xp.ones(entropy.shape[1:], dtype=xp.bool)
    for curve in (entropy, distinct, width):
        fallen = fallen & (xp.mean(curve[-tenth:, ...], axis=0) < share * xp.mean(curve[:tenth, ...], axis=0))
    return fallen
