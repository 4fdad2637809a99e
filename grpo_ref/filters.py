"""Filters: which groups, and which completions, take part in the update."""

from grpo_ref.arrays import MEMBERS, Array, array_namespace, is_set


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
    """Only groups whose completions differ in reward.

        keep = max(r) ≠ min(r)

    In groups with equal rewards, most recipes give every completion the advantage 0, so these groups have no
    gradient.

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
    return xp.max(rewards, axis=MEMBERS) != xp.min(rewards, axis=MEMBERS)


def pass_rate_between(
    rewards: Array, *, low: float = 0.2, high: float = 0.8, pass_reward: float = 0.0
) -> Array:
    """Only groups that are neither nearly always right nor nearly always wrong: the 20-80 % rule.

        keep = low <= mean[r > pass_reward] <= high

    [r > pass_reward] is 1 where the reward is above pass_reward, else 0. So its mean over the group is the
    group's pass rate.

    Args:
      rewards: (P, G), one row per prompt.
      pass_reward: a reward above it is a pass.
      low, high: bounds of the pass rate, both included, 0 <= low <= high <= 1.

    Returns:
      (P,) True where the group's pass rate is inside.

    Raises:
      ValueError: if the bounds are out of order.

    The upper bound is Open Instruct's `no_resampling_pass_rate`. A book chapter on GRPO (2026, not public),
    sec. 7.4, has both bounds.
    """
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"expected 0 <= low <= high <= 1, got {low} and {high}")
    xp = array_namespace(rewards)
    rate = xp.mean(xp.astype(rewards > pass_reward, xp.float64), axis=MEMBERS)
    return (rate >= low) & (rate <= high)


def all_completions(rewards: Array) -> Array:
    """Every completion takes part.

    Args:
      rewards: (P, G).

    Returns:
      (P, G) all True.
    """
    xp = array_namespace(rewards)
    return xp.ones(rewards.shape, dtype=xp.bool)


def ended_completions(ended: Array) -> Array:
    """Keep the completions that ended by themselves (DAPO's overlong filtering).

    The tokens of truncated completions enter neither the loss nor its denominator (whether the completion
    itself is counted: `count_empty` of the aggregation). Their rewards still enter the statistics of the
    group.

    Args:
      ended: (P, G) True where the completion ended by itself.

    Returns:
      (P, G) the same.

    Yu et al. 2025, DAPO, overlong filtering (arXiv:2503.14476); TRL and Open Instruct
    `mask_truncated_completions`.
    """
    return ended


def trained_tokens(turn_ids: Array, mask: Array) -> Array:
    """Keep the tokens that the policy wrote in an episode with tools: the mask that the loss needs.

        trained = mask and (turn id >= 0)

    The environment's tokens, such as the result of a tool, were not sampled from the policy. Their
    log-probabilities have no part in the policy gradient, and they must not count in the aggregation.

    Args:
      turn_ids: (P, G, T) number of the policy's turn from 0; -1 on the environment's tokens and on padding.
      mask: (P, G, T) 1 on all tokens of the episode, the environment's included or not.

    Returns:
      (P, G, T) True on the tokens to train on.

    verl calls this mask `response_mask`, TRL `tool_mask` (with `completion_mask`), SkyRL and OpenRLHF
    `loss_mask` and `action_mask`.

    >>> import numpy as np
    >>> turn_ids = np.array([[[0, -1, 1, -1]]])    # call, tool, answer, padding
    >>> trained_tokens(turn_ids, np.array([[[1, 1, 1, 0]]]))
    array([[[ True, False,  True, False]]])
    """
    return is_set(mask) & (turn_ids >= 0)


def first_of_equals(tokens: Array, mask: Array) -> Array:
    """Keep the first of equal completions in a group (duplicate rejection).

    Args:
      tokens: (P, G, T) integers.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G) False where an earlier completion of the group is the same.

    A book chapter on GRPO (2026, not public), sec. 7.5.1, which calls it DAPO's; DAPO has no such part.
    """
    xp = array_namespace(tokens, mask)
    padded = xp.where(is_set(mask), tokens, -1)
    equal = xp.all(padded[..., :, None, :] == padded[..., None, :, :], axis=-1)
    members = xp.arange(equal.shape[MEMBERS])
    earlier = members[None, :] < members[:, None]
    return ~xp.any(equal & earlier, axis=-1)
