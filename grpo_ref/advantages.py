"""Advantages: how much better than its siblings was each completion?

Every kernel maps rewards (..., P, G) to advantages of the same shape. Divisor, epsilon and one-member groups
are named arguments, because public trainers disagree about all three. A group whose rewards are all equal
gets exactly
0 everywhere: no contrast, no signal, and no 0/0.
"""

from grpo_ref.arrays import GROUP, TOKENS, Array, array_namespace

MEMBERS = TOKENS
"""In an array of rewards (..., P, G) the group is the last axis."""


def raw_rewards(rewards: Array) -> Array:
    """No baseline at all: the advantage is the reward, as in plain REINFORCE.

        Aᵢ = rᵢ

    Williams 1992, REINFORCE.
    """
    return rewards


def group_centred(rewards: Array) -> Array:
    """Reward minus the group's mean: keeps the scale of the reward, as in Dr. GRPO.

        Aᵢ = rᵢ - mean(r)

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G); each row sums to zero, a one-member group gets 0.

    Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `scale_rewards="none"`; Open Instruct's default
    "centered".

    >>> import numpy as np
    >>> group_centred(np.array([[0.0, 1.0, 1.0, 0.0]]))
    array([[-0.5,  0.5,  0.5, -0.5]])
    """
    return _zero_if_equal(rewards, rewards - _mean(rewards))


def group_normalized(
    rewards: Array, *, ddof: int = 1, eps: float = 1e-4, keep_singletons: bool = False
) -> Array:
    """Reward standardised within its group: GRPO's advantage.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps),    std over the G completions of one prompt, divisor G - ddof

    The defaults are TRL's. verl uses eps=1e-6, Open Instruct ddof=0 and eps=1e-8.

    Args:
      rewards: (P, G), one row per prompt.
      ddof: 1 for the sample standard deviation (TRL, verl, RLinf, OpenRLHF), 0 for the population's (Open
        Instruct).
      eps: added to the standard deviation, in units of reward.
      keep_singletons: what a group of one gets: 0 (TRL), or with True r / (1 + eps) (verl: mean 0, std 1).

    Returns:
      (P, G); each row sums to zero; a group of equal rewards gets exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300);
    TRL `GRPOTrainer._generate_and_score_completions`, verl `compute_grpo_outcome_advantage`.

    >>> import numpy as np
    >>> group_normalized(np.array([[1.0, 0.0]]), ddof=0, eps=0.0)
    array([[ 1., -1.]])
    """
    if keep_singletons and rewards.shape[MEMBERS] == 1:
        return rewards / (1.0 + eps)
    return _standardised(rewards, _std(rewards, axis=MEMBERS, ddof=ddof), eps)


def batch_scaled(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Reward centred on its group, but scaled by the spread of the whole batch.

        Aᵢ = (rᵢ - mean(r of the group)) / (std(r of the batch) + eps)

    One easy or hard prompt can no longer blow up its own advantages. The mean stays the group's.

    Args:
      rewards: (P, G), one row per prompt.
      ddof: as in `group_normalized`; the divisor is P G - ddof.
      eps: added to the standard deviation, in units of reward.

    Returns:
      (P, G); each row sums to zero; a group of equal rewards gets exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    TRL `scale_rewards="batch"` (Liu et al. 2025, Lite PPO, arXiv:2508.08221).
    """
    return _standardised(rewards, _std(rewards, axis=(GROUP, MEMBERS), ddof=ddof), eps)


def leave_one_out(rewards: Array, *, keep_singletons: bool = False) -> Array:
    """Reward minus the mean of the *other* completions: an unbiased baseline.

        Aᵢ = rᵢ - 1/(G-1) Σ_{j≠i} rⱼ = G/(G-1) (rᵢ - mean(r))

    Args:
      rewards: (P, G), one row per prompt.
      keep_singletons: a group of one has no others; it gets 0 (verl `rloo_vectorized`), or with True its own
        reward (verl `rloo`).

    Returns:
      (P, G); each row of two or more sums to zero.

    Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl `compute_rloo_outcome_advantage`.

    >>> import numpy as np
    >>> leave_one_out(np.array([[1.0, 0.0, 0.0]]))
    array([[ 1. , -0.5, -0.5]])
    """
    size = rewards.shape[MEMBERS]
    if size == 1:
        return rewards if keep_singletons else array_namespace(rewards).zeros_like(rewards)
    return group_centred(rewards) * (size / (size - 1))


def ranked(rewards: Array) -> Array:
    """Only the order counts: ranks instead of rewards, so no monotone distortion of the reward matters.

        Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1),   rank 1 the best; equal rewards share the mean of their ranks

    How ties are ranked is our choice: the mean rank keeps the sum at 0, and gives a group of equal rewards 0.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G) between -2 and 2; each row sums to zero, a one-member group gets 0.

    GOPO (arXiv:2602.03876), the affine map of its abstract page; no trainer has it.

    >>> import numpy as np
    >>> ranked(np.array([[0.1, 30.0, 0.2]]))
    array([[-2.,  2.,  0.]])
    """
    xp = array_namespace(rewards)
    ours, theirs = rewards[..., :, None], rewards[..., None, :]
    lead = xp.sum(xp.astype(ours > theirs, rewards.dtype) - xp.astype(ours < theirs, rewards.dtype), axis=-1)
    return 2.0 * lead / max(rewards.shape[MEMBERS] - 1, 1)


def normalized_then_summed(
    components: Array, weights: Array, *, ddof: int = 1, eps: float = 1e-4, whiten: bool = True
) -> Array:
    """Each criterion is normalised in its group before the weighted sum, so none drowns the others: GDPO.

        Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps),   Aᵢ = Σₖ wₖ Aᵢₖ,   then (Aᵢ - mean) / (std + eps) over the batch

    Summing first lets the criterion with the widest spread decide alone.

    Args:
      components: (P, G, K) one reward a criterion.
      weights: (K,) of the criteria.
      ddof, eps: as in `group_normalized`, for both normalisations; TRL has 1 and 1e-4.
      whiten: whether the last step, over all completions of the batch, is taken; TRL always takes it.

    Returns:
      (P, G); a criterion on which a group agrees adds 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`. verl whitens over
    tokens, so that long completions count more.
    """
    xp = array_namespace(components, weights)
    each = xp.moveaxis(components, -1, 0)
    normalized = group_normalized(each, ddof=ddof, eps=eps)
    total = xp.sum(xp.moveaxis(normalized, 0, -1) * weights, axis=-1)
    if not whiten:
        return total
    mean = xp.mean(total, axis=(GROUP, MEMBERS), keepdims=True)
    return (total - mean) / _scale(_std(total, axis=(GROUP, MEMBERS), ddof=ddof), eps)


def best_of_group(rewards: Array, *, ddof: int = 1, eps: float = 1e-6) -> Array:
    """Only the best completion is rewarded, by its lead over the second best: trains pass@k.

        A_best = (r_max - r_second) / (std(r) + eps),    A = 0 for all others

    Args:
      rewards: (P, G), one row per prompt, G >= 2.
      ddof: as in `group_normalized`.
      eps: added to the standard deviation, in units of reward.

    Returns:
      (P, G), not negative; a tie for the best gives 0 everywhere.

    Raises:
      ValueError: if a group has fewer than two completions, ddof is not 0 or 1, or eps is negative.

    Walder & Karkhanis 2025, pass@k (arXiv:2503.19595); verl `compute_grpo_passk_outcome_advantage`.
    """
    if rewards.shape[MEMBERS] < 2:
        raise ValueError(
            f"rewards: a lead over the second best needs groups of at least 2, got shape {rewards.shape}"
        )
    xp = array_namespace(rewards)
    ordered = xp.sort(rewards, axis=MEMBERS)
    lead = ordered[..., -1:] - ordered[..., -2:-1]
    scores = lead / _scale(_std(rewards, axis=MEMBERS, ddof=ddof), eps)
    return xp.where(rewards == ordered[..., -1:], scores, 0.0)


def _standardised(rewards: Array, std: Array, eps: float) -> Array:
    return _zero_if_equal(rewards, (rewards - _mean(rewards)) / _scale(std, eps))


def _scale(std: Array, eps: float) -> Array:
    """The divisor std + eps, and 1 where that is 0: there the numerator is 0 as well."""
    if not eps >= 0.0:
        raise ValueError(f"eps: expected a number >= 0, got {eps}")
    scale = std + eps
    return array_namespace(scale).where(scale > 0.0, scale, 1.0)


def _mean(rewards: Array) -> Array:
    return array_namespace(rewards).mean(rewards, axis=MEMBERS, keepdims=True)


def _std(rewards: Array, *, axis: int | tuple[int, int], ddof: int) -> Array:
    """Standard deviation along the axes, 0 where there are too few members for the divisor."""
    if ddof not in (0, 1):
        raise ValueError(f"ddof: expected 0 (population) or 1 (sample), got {ddof}")
    xp = array_namespace(rewards)
    mean = xp.mean(rewards, axis=axis, keepdims=True)
    squares = xp.sum((rewards - mean) ** 2, axis=axis, keepdims=True)
    members = rewards.shape[MEMBERS] * (rewards.shape[GROUP] if isinstance(axis, tuple) else 1)
    return xp.sqrt(squares / max(members - ddof, 1))


def _zero_if_equal(rewards: Array, advantages: Array) -> Array:
    """Exact zeros where a group agrees: the mean of equal numbers can be off by one rounding."""
    xp = array_namespace(rewards)
    equal = xp.max(rewards, axis=MEMBERS, keepdims=True) == xp.min(rewards, axis=MEMBERS, keepdims=True)
    return xp.where(equal, 0.0, advantages)
