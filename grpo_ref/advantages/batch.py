"""Advantages that look at the whole batch: one per completion, its scale taken from all prompts together."""

from grpo_ref.advantages.group import group_centered
from grpo_ref.advantages.moments import deviations, divisor, reward_std
from grpo_ref.arrays import COMPLETIONS, GROUPS, MEMBERS, Array, array_namespace, at_least


def batch_scaled(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Reward centered on its group, but scaled by the spread of the whole batch.

        Aᵢ = (rᵢ - mean(r of the group)) / (std(r of the batch) + eps)

    The advantages of a very easy or very hard prompt are no longer enlarged by the small std of its own
    group.

    Args:
      rewards: (P, G), one row per prompt.
      ddof: as in `group_normalized`; the divisor is P G - ddof.
      eps: added to the standard deviation, in units of reward.

    Returns:
      (P, G); each row sums to zero. A group with equal rewards gets exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    TRL `scale_rewards="batch"` (Liu et al. 2025, Lite PPO, arXiv:2508.08221).
    """
    return deviations(rewards) / divisor(reward_std(rewards, axis=COMPLETIONS, ddof=ddof), eps)


def batch_normalized(rewards: Array, *, ddof: int = 0, eps: float = 1e-4) -> Array:
    """Reward standardized over the whole batch: mean and std are those of all completions.

        Aᵢ = (rᵢ - mean(r of the batch)) / (std(r of the batch) + eps)

    Every completion of an easy prompt has a positive advantage. TRL's "batch" is `batch_scaled`, which keeps
    the group's mean.

    Args:
      rewards: (P, G), one row per prompt.
      ddof, eps: as in `batch_scaled`. The source below has ddof 0.

    Returns:
      (P, G); the batch sums to zero, its rows need not.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    A book chapter on GRPO (2026, not public), sec. 7.5.10; compare `batch_scaled`.
    """
    mean = array_namespace(rewards).mean(rewards, axis=COMPLETIONS, keepdims=True)
    return (rewards - mean) / divisor(reward_std(rewards, axis=COMPLETIONS, ddof=ddof), eps)


def gpg(rewards: Array, *, count_rewarded: bool = False, keep_singletons: bool = False) -> Array:
    """Reward minus the group's mean, times a factor that makes up for the groups with equal rewards: GPG.

        Aᵢ = α (rᵢ - mean(r)),   α = B / (B - M)

    B is the number of completions of the batch, and M the number of completions in groups with equal rewards.
    These groups have advantage 0; α gives their weight to the other groups. In verl, M is the number of
    completions with reward 0. So M does not count a group whose rewards are all 1, and with rewards of -1 and
    1, verl's α is always 1.

    Args:
      rewards: (P, G), one row per prompt.
      count_rewarded: if true, M is the number of completions with reward 0, as in verl, so that B - M counts
        the completions with another reward. If false, M is the number of completions in groups with equal
        rewards.
      keep_singletons: as in `group_centered`.

    Returns:
      (P, G); each row sums to zero. A group of one gets 0, unless keep_singletons is true.

    Chu et al. 2025, GPG (arXiv:2504.02546); verl `compute_gpg_outcome_advantage`.

    >>> import numpy as np
    >>> rewards = np.array([[1.0, 1.0], [1.0, 0.0]])
    >>> gpg(rewards)
    array([[ 0.,  0.],
           [ 1., -1.]])
    >>> gpg(rewards, count_rewarded=True).round(3)
    array([[ 0.   ,  0.   ],
           [ 0.667, -0.667]])
    """
    xp = array_namespace(rewards)
    if count_rewarded:
        counted, size = rewards != 0.0, rewards.shape[GROUPS] * rewards.shape[MEMBERS]
    else:
        lowest = xp.min(rewards, axis=MEMBERS, keepdims=True)
        counted, size = xp.max(rewards, axis=MEMBERS, keepdims=True) > lowest, rewards.shape[GROUPS]
    number = xp.sum(xp.astype(counted, rewards.dtype), axis=COMPLETIONS, keepdims=True)
    return group_centered(rewards, keep_singletons=keep_singletons) * (size / at_least(number, 1.0))
