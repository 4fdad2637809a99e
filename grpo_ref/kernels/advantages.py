"""Advantages: how much better than its siblings was each completion?

Every kernel maps rewards (..., P, G) to advantages of the same shape; those at the end give one a token
instead, (..., P, G, T). Divisor, epsilon and one-member groups
are named arguments, because public trainers disagree about all three. A group whose rewards are all equal
gets exactly
0 everywhere: no contrast, no signal, and no 0/0.
"""

from grpo_ref.arrays import (
    BATCH,
    GROUP,
    TOKENS,
    Array,
    array_namespace,
    at_least,
    is_set,
    masked_mean,
    masked_sum,
    where_mask,
)

MEMBERS = TOKENS
"""In an array of rewards (..., P, G) the group is the last axis."""


def raw_rewards(rewards: Array) -> Array:
    """No baseline at all: the advantage is the reward, as in plain REINFORCE.

        Aᵢ = rᵢ

    Williams 1992, REINFORCE.
    """
    return rewards


def group_centered(rewards: Array) -> Array:
    """Reward minus the group's mean: keeps the scale of the reward, as in Dr. GRPO.

        Aᵢ = rᵢ - mean(r)

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G); each row sums to zero, a one-member group gets 0.

    Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `scale_rewards="none"`; Open Instruct's default
    "centered".

    >>> import numpy as np
    >>> group_centered(np.array([[0.0, 1.0, 1.0, 0.0]]))
    array([[-0.5,  0.5,  0.5, -0.5]])
    """
    return _zero_if_equal(rewards, rewards - _mean(rewards))


group_centred = group_centered
"""The old spelling of the name, kept until 1.0."""


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


def scored_normalized(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """`group_normalized` for groups of which some completions could not be scored: NaN marks those.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)    over the scored completions of the group, 0 for the others

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function had anything to say.
      ddof, eps: as in `group_normalized`.

    Returns:
      (P, G); a group of which fewer than two are scored gets 0.

    TRL `GRPOTrainer._generate_and_score_completions`, rewards of None.
    """
    xp = array_namespace(rewards)
    scored = ~xp.isnan(rewards)
    mean = masked_mean(rewards, scored, axis=MEMBERS, keepdims=True)
    squares = masked_sum((rewards - mean) ** 2, scored, axis=MEMBERS, keepdims=True)
    count = xp.sum(xp.astype(scored, rewards.dtype), axis=MEMBERS, keepdims=True)
    std = xp.sqrt(squares / at_least(count - ddof, 1.0))
    return where_mask(scored & (count > 1.0), (rewards - mean) / _scale(std, eps))


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


def batch_normalized(rewards: Array, *, ddof: int = 0, eps: float = 1e-4) -> Array:
    """Reward standardised over the whole batch, mean and spread alike: the form of textbooks, not of TRL.

        Aᵢ = (rᵢ - mean(r of the batch)) / (std(r of the batch) + eps)

    Every completion of an easy prompt has a positive advantage. TRL's "batch" is `batch_scaled`, which keeps
    the group's mean.

    Args:
      rewards: (P, G), one row per prompt.
      ddof, eps: as in `batch_scaled`; ddof 0 is the book's.

    Returns:
      (P, G); the batch sums to zero, its rows need not.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    A book chapter on GRPO (2026), sec. 7.5.10; compare `batch_scaled`.
    """
    mean = array_namespace(rewards).mean(rewards, axis=(GROUP, MEMBERS), keepdims=True)
    return (rewards - mean) / _scale(_std(rewards, axis=(GROUP, MEMBERS), ddof=ddof), eps)


def length_weighted(rewards: Array, lengths: Array, *, keep_singletons: bool = True) -> Array:
    """Reward minus the group's mean weighted by length, the baseline of least variance: OPO.

        Aᵢ = rᵢ - Σⱼ |oⱼ| rⱼ / Σⱼ |oⱼ|

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion; one that is empty has no say in the baseline.
      keep_singletons: whether a group of one keeps its reward (verl) or gets 0.

    Returns:
      (P, G); a group without any token keeps its rewards.

    Hao et al. 2025, OPO (arXiv:2505.23585); verl `compute_opo_outcome_advantage`.
    """
    xp = array_namespace(rewards, lengths)
    if rewards.shape[MEMBERS] == 1:
        return rewards if keep_singletons else xp.zeros_like(rewards)
    lengths = xp.astype(lengths, rewards.dtype)
    total = xp.sum(lengths, axis=MEMBERS, keepdims=True)
    return rewards - xp.sum(lengths * rewards, axis=MEMBERS, keepdims=True) / at_least(total, 1.0)


def gpg(rewards: Array) -> Array:
    """Reward minus the group's mean, scaled up by the share of completions that were rewarded: GPG.

        Aᵢ = α (rᵢ - mean(r)),   α = completions of the batch / those of them with r ≠ 0

    It counts rewards that are not 0, so with rewards of -1 and 1 nothing is ever scaled.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G); each row sums to zero.

    Chu et al. 2025, GPG (arXiv:2504.02546); verl `compute_gpg_outcome_advantage`.
    """
    xp = array_namespace(rewards)
    rewarded = xp.sum(xp.astype(rewards != 0.0, rewards.dtype), axis=(GROUP, MEMBERS), keepdims=True)
    size = rewards.shape[GROUP] * rewards.shape[MEMBERS]
    return group_centered(rewards) * (size / at_least(rewarded, 1.0))


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
    return group_centered(rewards) * (size / (size - 1))


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


# ---- one a token ----------------------------------------------------------------------------------


def whitened(
    rewards: Array, mask: Array, *, baseline: bool = True, ddof: int = 1, eps: float = 1e-8
) -> Array:
    """REINFORCE++ with a baseline: centred in the group, then standardised over all tokens of the batch.

        aᵢₜ = rᵢ - mean(r of the group),   Aᵢₜ = (aᵢₜ - mean) / √(var + eps)    over the tokens of the batch

    A long completion has many tokens and so more say in mean and variance.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      baseline: whether the group's mean is taken off first; without it, it is REINFORCE++ with γ = 1.
      ddof: the divisor of the variance is the number of tokens minus this; 1 in verl, 0 in RLinf.
      eps: added to the variance, 1e-8 in verl.

    Returns:
      (P, G, T), 0 on padding.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Hu 2025, REINFORCE++ (arXiv:2501.03262); verl `compute_reinforce_plus_plus_baseline_outcome_advantage`.
    """
    xp = array_namespace(rewards, mask)
    scores = group_centered(rewards) if baseline else rewards
    tokens = scores[..., None] + xp.zeros_like(xp.astype(mask, rewards.dtype))
    return _whiten(tokens, mask, ddof=ddof, eps=eps)


def normalized_twice(
    rewards: Array,
    mask: Array,
    *,
    ddof: int = 1,
    eps: float = 1e-6,
    token_ddof: int = 0,
    token_eps: float = 1e-5,
) -> Array:
    """Standardised in the group, then once more over all tokens of the batch.

        aᵢₜ = (rᵢ - mean(r)) / (std(r) + eps),   Aᵢₜ = (aᵢₜ - mean) / (std + token_eps)    over the tokens

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      ddof, eps: in the group; 1 and 1e-6 in RLinf.
      token_ddof, token_eps: over the tokens; 0 and 1e-5 in RLinf.

    Returns:
      (P, G, T), 0 on padding.

    RLinf `compute_grpo_advantages` with `normalize_advantages: True`.
    """
    xp = array_namespace(rewards, mask)
    scores = group_normalized(rewards, ddof=ddof, eps=eps)[..., None]
    values = scores + xp.zeros_like(xp.astype(mask, rewards.dtype))
    mean, variance = _moments(values, mask, ddof=token_ddof)
    return where_mask(mask, (values - mean) / _scale(xp.sqrt(variance), token_eps))


def discounted(rewards: Array, mask: Array, *, gamma: float = 1.0, ddof: int = 1, eps: float = 1e-8) -> Array:
    """REINFORCE++: the reward stands at the last token, is discounted back, and standardised over all tokens.

        aᵢₜ = γ^(|oᵢ| - 1 - t) rᵢ,   Aᵢₜ = (aᵢₜ - mean) / √(var + eps)    over the tokens of the batch

    Args:
      rewards: (P, G).
      mask: (P, G, T) 1 on completion tokens.
      gamma: discount a token, 0 <= gamma <= 1; 1 in verl.
      ddof, eps: as in `whitened`.

    Returns:
      (P, G, T), 0 on padding.

    Raises:
      ValueError: if gamma is out of range, ddof is not 0 or 1, or eps is negative.

    Hu 2025, REINFORCE++ (arXiv:2501.03262); verl `compute_reinforce_plus_plus_outcome_advantage`.
    """
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma: expected 0 <= gamma <= 1, got {gamma}")
    xp = array_namespace(rewards, mask)
    present = xp.astype(is_set(mask), rewards.dtype)
    left = xp.flip(xp.cumulative_sum(xp.flip(present, axis=TOKENS), axis=TOKENS), axis=TOKENS) - 1.0
    discount = xp.where(is_set(mask), gamma**left, 0.0) if gamma < 1.0 else present
    return _whiten(rewards[..., None] * discount, mask, ddof=ddof, eps=eps)


def normalized_then_whitened(
    components: Array, weights: Array, mask: Array, *, ddof: int = 1, eps: float = 1e-6
) -> Array:
    """GDPO as verl has it: the last normalisation is over tokens, so long completions count more.

        aᵢ = Σₖ wₖ (rᵢₖ - meanₖ) / (stdₖ + eps),   Aᵢₜ = (aᵢ - mean) / √(var + 1e-8)    over the tokens

    Args:
      components: (P, G, K) one reward a criterion.
      weights: (K,) of the criteria.
      mask: (P, G, T) 1 on completion tokens.
      ddof, eps: of the normalisation in the group; 1 and 1e-6 in verl, which computes in float32.

    Returns:
      (P, G, T), 0 on padding.

    GDPO (arXiv:2601.05242); verl `compute_gdpo_outcome_advantage`.
    """
    total = normalized_then_summed(components, weights, ddof=ddof, eps=eps, whiten=False)
    return whitened(total, mask, baseline=False, ddof=1, eps=1e-8)


def step_suffix_sums(step_rewards: Array, step_ends: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Process supervision: every step has a reward, and a token is worth all steps that end after it.

        r̃ = (r - mean(R)) / (std(R) + eps),   Aᵢₜ = Σ r̃ of the steps of completion i that end at t or later

    R are all step rewards of the group. Tokens after the last step get 0. Divisor and eps are ours: no
    trainer implements it, and the paper says neither.

    Args:
      step_rewards: (P, G, T), the reward of the step that ends at a token; elsewhere it does not matter.
      step_ends: (P, G, T) 1 where a step ends.
      ddof, eps: as in `group_normalized`, over the steps of the group.

    Returns:
      (P, G, T) advantages.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Shao et al. 2024, DeepSeekMath, process supervision (arXiv:2402.03300).
    """
    if ddof not in (0, 1):
        raise ValueError(f"ddof: expected 0 (population) or 1 (sample), got {ddof}")
    xp = array_namespace(step_rewards, step_ends)
    steps, axes = is_set(step_ends), (MEMBERS - 1, TOKENS)
    mean = masked_mean(step_rewards, step_ends, axis=axes, keepdims=True)
    squares = masked_sum((step_rewards - mean) ** 2, step_ends, axis=axes, keepdims=True)
    count = xp.sum(xp.astype(steps, step_rewards.dtype), axis=axes, keepdims=True)
    std = xp.sqrt(squares / at_least(count - ddof, 1.0))
    scores = where_mask(step_ends, (step_rewards - mean) / _scale(std, eps))
    return xp.flip(xp.cumulative_sum(xp.flip(scores, axis=TOKENS), axis=TOKENS), axis=TOKENS)


def _whiten(values: Array, mask: Array, *, ddof: int, eps: float) -> Array:
    """Mean 0 and variance 1 over the tokens of each batch; 0 on padding."""
    if not eps >= 0.0:
        raise ValueError(f"eps: expected a number >= 0, got {eps}")
    xp = array_namespace(values, mask)
    mean, variance = _moments(values, mask, ddof=ddof)
    variance = variance + eps
    return where_mask(mask, (values - mean) / xp.sqrt(xp.where(variance > 0.0, variance, 1.0)))


def _moments(values: Array, mask: Array, *, ddof: int) -> tuple[Array, Array]:
    """Mean and variance over the tokens of each batch."""
    if ddof not in (0, 1):
        raise ValueError(f"ddof: expected 0 (population) or 1 (sample), got {ddof}")
    xp = array_namespace(values, mask)
    mean = masked_mean(values, mask, axis=BATCH, keepdims=True)
    squares = masked_sum((values - mean) ** 2, mask, axis=BATCH, keepdims=True)
    count = xp.sum(xp.astype(is_set(mask), values.dtype), axis=BATCH, keepdims=True)
    return mean, squares / at_least(count - ddof, 1.0)


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
