"""Rewards: what is done to the verifier's reward before it becomes an advantage."""

from grpo_ref.arrays import Array, array_namespace, as_floating


def task_reward(rewards: Array) -> Array:
    """The reward as the task's verifier gave it.

    Args:
      rewards: (P, G).
    """
    return rewards


def soft_overlong_punishment(lengths: Array, max_length: int, *, buffer: float = 0.2) -> Array:
    """DAPO's overlong penalty, which falls linearly from 0 to -1 over the end of the budget.

         0                       for |o| <= L - B
        ((L - B) - |o|) / B      for L - B < |o| <= L
        -1                       for |o| > L            L the budget, B = buffer L

    DAPO adds it to rewards of +1 and -1. For rewards of 1 and 0, half of it (weight=0.5 in `soft_overlong`)
    has the same effect.

    Args:
      lengths: (P, G) tokens of each completion.
      max_length: L, the generation budget in tokens.
      buffer: B as a share of L, 0 < buffer <= 1. DAPO's 4096 of 20480 tokens is 0.2.

    Returns:
      (P, G) penalties between -1 and 0, in units of reward.

    Raises:
      ValueError: if buffer or max_length is out of range.

    Yu et al. 2025, DAPO, eq. 13 (arXiv:2503.14476); TRL `get_soft_overlong_punishment`, which takes B in
    tokens.

    >>> import numpy as np
    >>> soft_overlong_punishment(np.array([80.0, 90.0, 100.0]), 100)
    array([ 0. , -0.5, -1. ])
    """
    if not 0.0 < buffer <= 1.0 or max_length < 1:
        raise ValueError(f"expected 0 < buffer <= 1 and max_length >= 1, got {buffer} and {max_length}")
    lengths = as_floating(lengths)
    width = buffer * max_length
    return array_namespace(lengths).clip((max_length - width - lengths) / width, -1.0, 0.0)


def soft_overlong(
    rewards: Array, lengths: Array, max_length: int, *, buffer: float = 0.2, weight: float = 1.0
) -> Array:
    """The reward plus weight times `soft_overlong_punishment`: DAPO's overlong reward shaping.

        r + λ p(|o|),    λ = weight

    Args:
      rewards: (P, G).
      lengths, max_length, buffer: as in `soft_overlong_punishment`.
      weight: λ, >= 0; 1 in DAPO and TRL, `penalty_factor` in verl. At 1, the penalty at the budget is half
        of the difference between DAPO's rewards of +1 and -1, so a right answer still earns more than any
        wrong one. With rewards of 1 and 0 use 0.5, as the recipe `dapo` does: its advantages are then those
        of the paper. At 1, a right answer that uses the whole budget would earn 0, as a short wrong one does.

    Returns:
      (P, G) shaped rewards.

    Raises:
      ValueError: if weight is negative, or buffer or max_length is out of range.
    """
    if not weight >= 0.0:
        raise ValueError(f"weight: expected a number >= 0, got {weight}")
    return rewards + weight * soft_overlong_punishment(lengths, max_length, buffer=buffer)
