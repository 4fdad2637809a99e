"""Advantages per token: whitened over all tokens of the batch, discounted, or summed over the steps to come.

rewards (..., P, G), or (..., P, G, T) one per step -> (..., P, G, T)
"""

from grpo_ref.advantages.group import group_centered, group_normalized
from grpo_ref.advantages.moments import divisor, masked_moments, whiten
from grpo_ref.arrays import BATCH, GROUP, TOKENS, Array, array_namespace, is_set, where_mask


def whitened(
    rewards: Array,
    mask: Array,
    *,
    baseline: bool = True,
    ddof: int = 1,
    eps: float = 1e-8,
    keep_singletons: bool = False,
) -> Array:
    """REINFORCE++ with a baseline: subtract the group's mean, then standardize over all tokens of the batch.

        aᵢₜ = rᵢ - mean(r of the group),   Aᵢₜ = (aᵢₜ - mean) / √(var + eps)    over the tokens of the batch

    Long completions have more tokens, so they have more influence on the mean and the variance.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      baseline: if true, subtract the group's mean first. If false, this is REINFORCE++ with γ = 1.
      ddof: the divisor of the variance is the number of tokens minus this; 1 in verl.
      eps: added to the variance, 1e-8 in verl.
      keep_singletons: as in `group_centered`, for the baseline.

    Returns:
      (P, G, T), 0 on padding.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Hu 2025, REINFORCE++ (arXiv:2501.03262); verl `compute_reinforce_plus_plus_baseline_outcome_advantage`.
    """
    xp = array_namespace(rewards, mask)
    scores = group_centered(rewards, keep_singletons=keep_singletons) if baseline else rewards
    token_scores = scores[..., None] + xp.zeros_like(xp.astype(mask, rewards.dtype))
    return whiten(token_scores, mask, ddof=ddof, eps=eps)


def normalized_twice(
    rewards: Array,
    mask: Array,
    *,
    ddof: int = 1,
    eps: float = 1e-6,
    token_ddof: int = 0,
    token_eps: float = 1e-5,
) -> Array:
    """Standardized in the group, then once more over all tokens of the batch.

        aᵢₜ = (rᵢ - mean(r)) / (std(r) + eps),   Aᵢₜ = (aᵢₜ - mean) / (std + token_eps)    over the tokens

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      ddof, eps: in the group; 1 and 1e-6 in RLinf.
      token_ddof, token_eps: over the tokens; 0 and 1e-5 in RLinf.

    Returns:
      (P, G, T), 0 on padding.

    RLinf's FSDP actor with `normalize_advantages: True`. Its Megatron actor standardizes over the tokens
    twice.
    """
    xp = array_namespace(rewards, mask)
    scores = group_normalized(rewards, ddof=ddof, eps=eps)[..., None]
    token_scores = scores + xp.zeros_like(xp.astype(mask, rewards.dtype))
    mean, variance = masked_moments(token_scores, mask, axis=BATCH, ddof=token_ddof)
    return where_mask(mask, (token_scores - mean) / divisor(xp.sqrt(variance), token_eps))


def discounted(rewards: Array, mask: Array, *, gamma: float = 1.0, ddof: int = 1, eps: float = 1e-8) -> Array:
    """REINFORCE++: the reward of the last token, discounted back and standardized over all tokens.

        aᵢₜ = γ^(|oᵢ| - 1 - t) rᵢ,   Aᵢₜ = (aᵢₜ - mean) / √(var + eps)    over the tokens of the batch

    Args:
      rewards: (P, G).
      mask: (P, G, T) 1 on completion tokens.
      gamma: discount per token, 0 <= gamma <= 1; 1 in verl.
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
    tokens_after = _suffix_sums(present) - 1.0
    discount = xp.where(is_set(mask), gamma**tokens_after, 0.0) if gamma < 1.0 else present
    return whiten(rewards[..., None] * discount, mask, ddof=ddof, eps=eps)


def step_suffix_sums(step_rewards: Array, step_ends: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Process supervision: a token sums the normalized rewards of all steps that end at this token or later.

        r̃ = (r - mean(R)) / (std(R) + eps),   Aᵢₜ = Σ r̃ of the steps of completion i that end at t or later

    R are all step rewards of the group. Tokens after the last step get 0. The paper gives neither ddof nor
    eps, and no trainer implements this; both are our choice.

    Args:
      step_rewards: (P, G, T), the reward of the step that ends at a token. Other entries are ignored.
      step_ends: (P, G, T) 1 where a step ends.
      ddof, eps: as in `group_normalized`, over the steps of the group.

    Returns:
      (P, G, T) advantages.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Shao et al. 2024, DeepSeekMath, process supervision (arXiv:2402.03300).
    """
    xp = array_namespace(step_rewards, step_ends)
    mean, variance = masked_moments(step_rewards, step_ends, axis=(GROUP, TOKENS), ddof=ddof)
    scores = where_mask(step_ends, (step_rewards - mean) / divisor(xp.sqrt(variance), eps))
    return _suffix_sums(scores)


def _suffix_sums(values: Array) -> Array:
    """The sum from each token to the last one."""
    xp = array_namespace(values)
    return xp.flip(xp.cumulative_sum(xp.flip(values, axis=TOKENS), axis=TOKENS), axis=TOKENS)


def optimal_token_baseline(
    rewards: Array,
    score_norms: Array,
    mask: Array,
    *,
    eps: float = 1e-8,
    skip_holes: bool = False,
) -> Array:
    """Reward minus a baseline for each position, which weights completions by their gradient noise so far.

        Aᵢₜ = rᵢ - Bₜ,   Bₜ = Σⱼ Wⱼₜ rⱼ / (Σⱼ Wⱼₜ + eps),   Wⱼₜ = Σ_{s <= t} nⱼₛ

    n is the squared norm of ∂ log π(token) / ∂ logits = onehot - π, which is 1 - 2 π(token) + Σₐ πₐ². It
    takes the place of the norm with respect to the parameters: weights of this kind minimize the variance of
    the gradient. The sums over j are over the completions of the group that have a token at t. Where only the
    longest completion has tokens left, B is 0.

    Args:
      rewards: (P, G), one row per prompt, for the whole completion.
      score_norms: (P, G, T) squared norm of each token's score, 1 - 2 π + Σₐ πₐ², at the start of the update.
      mask: (P, G, T) 1 on completion tokens.
      eps: added to the sum of the weights; 1e-8 in verl.
      skip_holes: if true, positions count only tokens with mask 1, as in verl's form for several turns. If
        false, the token after a tool's answer is compared with the tokens of others at the same place.
        Without holes both forms are equal.

    Returns:
      (P, G, T), 0 on padding. A group of one keeps its reward.

    Optimal token baseline (arXiv:2602.07078); verl `compute_optimal_token_baseline_advantage` and, with
    skip_holes, `compute_multi_turn_optimal_token_baseline_advantage`.

    >>> import numpy as np
    >>> norms, mask = np.array([[[0.5, 0.5], [0.5, 1.5]]]), np.ones((1, 2, 2))
    >>> optimal_token_baseline(np.array([[1.0, 0.0]]), norms, mask).round(3)
    array([[[ 0.5  ,  0.667],
            [-0.5  , -0.333]]])
    """
    xp = array_namespace(rewards, score_norms, mask)
    present = is_set(mask)
    returns = rewards[..., None] + xp.zeros_like(score_norms)
    if mask.shape[GROUP] == 1:
        return where_mask(present, returns)

    # The weights grow along the completion. With skip_holes, its tokens move together to the front.
    weights = xp.cumulative_sum(where_mask(present, score_norms), axis=TOKENS)
    tokens = xp.astype(present, score_norms.dtype)
    number = xp.cumulative_sum(tokens, axis=TOKENS)  # 1 for the first token of a completion
    place = xp.astype(xp.arange(mask.shape[TOKENS]), score_norms.dtype) + xp.zeros_like(tokens)
    there = present
    if skip_holes:
        front = xp.argsort(1.0 - tokens, axis=TOKENS, stable=True)
        weights = xp.take_along_axis(weights, front, axis=TOKENS)
        there = xp.take_along_axis(tokens, front, axis=TOKENS) > 0.0
        place = xp.where(present, number - 1.0, 0.0)

    weights = where_mask(there, weights)
    total = xp.sum(weights, axis=GROUP, keepdims=True) + eps
    baseline = xp.sum(weights * returns, axis=GROUP, keepdims=True) / xp.where(total > 0.0, total, 1.0)
    baseline = xp.take_along_axis(baseline + xp.zeros_like(weights), xp.astype(place, xp.int64), axis=TOKENS)

    # Beyond the second longest completion, the longest is alone.
    lengths = xp.sum(tokens, axis=TOKENS, keepdims=True)
    others = xp.sort(lengths, axis=GROUP)[..., -2:-1, :]
    is_alone = (lengths > others) & (place >= others)
    return where_mask(present, returns - xp.where(is_alone, 0.0, baseline))
