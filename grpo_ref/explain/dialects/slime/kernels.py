"""Kernels of slime: a token mean that counts at least one token per completion, whitening, an off-policy mask."""

import math
from typing import Any

from grpo_ref.advantages.moments import whiten
from grpo_ref.aggregation import sequence_mean_token_mean
from grpo_ref.arrays import (
    BATCH,
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.corrections import indicator, truncated, without_outliers
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

EPS = 1e-8
"""Added to the variance over the tokens."""
ESTIMATORS = {"k1": k1, "k2": k2, "k3": k3}
LEVELS = {"token": token_level, "sequence": sequence_sum_level, "geometric": sequence_mean_level}
"""The values of tis_level and rs_level."""


def token_mean_of_any(mask: Array) -> Array:
    """Give every token the same weight. A completion without tokens adds one token to the denominator.

        W = m / Σᵢ max(|oᵢ|, 1)

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights that sum to 1 where no completion is empty.

    slime `loss_function` with calculate_per_token_loss.
    """
    mask = as_floating(mask)
    lengths = array_namespace(mask).sum(mask, axis=TOKENS, keepdims=True)
    return mask / array_namespace(mask).sum(at_least(lengths, 1.0), axis=BATCH, keepdims=True)


def spread_above(rewards: Array, *, least: float = 1e-6) -> Array:
    """Keep the groups whose rewards have a spread. A group of one has none.

        keep = std(r) > least,    the divisor of the variance is G - 1

    Args:
      rewards: (P, G), one row per prompt.
      least: 1e-6 in slime.

    Returns:
      (P,) True for groups that are kept.

    slime `check_reward_nonzero_std`.
    """
    xp = array_namespace(rewards)
    size = rewards.shape[MEMBERS]
    squares = (rewards - xp.mean(rewards, axis=MEMBERS, keepdims=True)) ** 2
    return xp.sqrt(xp.sum(squares, axis=MEMBERS) / max(size - 1, 1)) > least


def mismatch_weights(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: str = "token",
    mode: str = "truncate",
    window: tuple[float, float],
    reject: tuple[str, float, float] | None = None,
    veto: float | None = None,
    normalized: bool = False,
) -> Array:
    """Return the limited ratio of learner to sampler, times a second window and a veto.

        w = limited(c) / mean(limited(c)) · [low <= c' <= high] · [no token of the completion has c < veto]

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; their difference at a level is limited to ± 20.
      mask: (P, G, T) 1 on completion tokens.
      level: level of c: "token", "sequence" (the product) or "geometric" (the geometric mean).
      mode: "truncate" limits c from above, "clip" from both sides, "mask" excludes tokens outside the window.
      window: tis_lower_bound and tis_upper_bound.
      reject: rs_level with rs_lower_bound and rs_upper_bound, for c'; None for no second window.
      veto: rs_veto_threshold, for the token's ratio; None for no veto.
      normalized: if true, divide w by its mean over the tokens, or over the completions, before anything is
        excluded. slime takes the mean over a micro-batch.

    Returns:
      (P, G, T) weights; exactly 0 where a token is excluded, also from the penalty.

    slime `examples/train_infer_mismatch_helper/mis.py`, `compute_mis_weights`.
    """
    fields, (low, high) = (old_log_probs, rollout_log_probs, mask), window
    limits: dict[str, Any] = {"max_log_ratio": 20.0, "unknown": math.nan}
    if mode == "mask":
        weights = truncated(*fields, level=LEVELS[level], max_ratio=math.inf, **limits)
        kept = indicator(*fields, level=LEVELS[level], min_ratio=low, max_ratio=high, **limits)
    else:
        least = low if mode == "clip" else 0.0
        weights = truncated(*fields, level=LEVELS[level], min_ratio=least, max_ratio=high, **limits)
        kept = array_namespace(weights).ones_like(weights)
    if normalized:
        weights = _over_mean(weights, mask, level)
    if reject is not None:
        other, least, most = reject
        kept = kept * indicator(*fields, level=LEVELS[other], min_ratio=least, max_ratio=most, **limits)
    if veto is not None:
        kept = kept * without_outliers(*fields, min_ratio=veto)
    return weights * kept


def _over_mean(weights: Array, mask: Array, level: str) -> Array:
    """Divide by the mean over the tokens, or over all completions. Unlike verl, a geometric mean counts by token."""
    xp = array_namespace(weights)
    mean = masked_mean(weights, mask, axis=BATCH, keepdims=True)
    if level == "sequence":
        mean = xp.mean(masked_mean(weights, mask, axis=TOKENS, keepdims=True), axis=BATCH, keepdims=True)
    return weights / xp.where(mean > EPS, mean, 1.0)


def only_kept(mask: Array, correction: Array, *, per_token: bool = False) -> Array:
    """Return the loss's weights for the penalty: 0 on tokens that a correction excludes, with unchanged denominators.

        V = W [c ≠ 0]

    Args:
      mask: (P, G, T) 1 on completion tokens.
      correction: (P, G, T) c, the product of the corrections.
      per_token: calculate_per_token_loss.

    Returns:
      (P, G, T) weights.

    slime `policy_loss_function`, which computes its average again with the masks from the correction.
    """
    weights = token_mean_of_any(mask) if per_token else sequence_mean_token_mean(mask)
    return weights * array_namespace(mask, correction).astype(correction != 0.0, weights.dtype)


def weighted_estimate(
    log_probs: Array,
    ref_log_probs: Array,
    old_log_probs: Array,
    *,
    estimator: str,
    max_value: float = math.inf,
) -> Term:
    """Multiply an estimate of the KL by the token's own ratio, for any level of the loss.

    Both contribute to the slope.

        r estimate(v),   r = πθ / πold of the token,  v = log πθ - log πref

    Args:
      log_probs, ref_log_probs, old_log_probs: (P, G, T) in nats.
      estimator: "k1", "k2" or "k3".
      max_value: limit of the product's absolute value; 10 for low_var_kl. The slope is 0 beyond it.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    slime `compute_approx_kl` with use_unbiased_kl; weighted_k1 and weighted_k3 use the ratio of the level
    instead.
    """
    xp = array_namespace(log_probs, ref_log_probs, old_log_probs)
    ratio = xp.exp(log_probs - old_log_probs)
    term = ESTIMATORS[estimator](log_probs, ref_log_probs)
    value, slope = ratio * term.value, ratio * (term.direct + term.value)
    if math.isinf(max_value):
        return Term(value=value, direct=slope)
    passes = abs(value) <= max_value
    return Term(value=xp.clip(value, -max_value, max_value), direct=xp.where(passes, slope, 0.0))


def whitened_scores(rewards: Array, mask: Array, *, scores: Slot) -> Array:
    """Compare the rewards in the group, then standardize once more over all tokens of the rollout.

        Aᵢₜ = (aᵢ - mean) / √(var + 1e-8),   a = scores(r),    over the tokens, with divisor N - 1

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      scores: the part that compares the rewards of a group, (P, G) -> (P, G).

    Returns:
      (P, G, T), 0 on padding.

    slime `compute_advantages_and_returns` with normalize_advantages.
    """
    xp = array_namespace(rewards, mask)
    values = scores(rewards=rewards)[..., None] + xp.zeros_like(mask, dtype=rewards.dtype)
    return whiten(values, mask, ddof=1, eps=EPS)


def whitened_scores_less_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
) -> Array:
    """Subtract each token's own KL before the tokens are standardized. The KL of later tokens is not added.

        aₜ = scores(r) - kl_coef penaltyₜ,   Aₜ = (a - mean) / √(var + 1e-8)    over the tokens

    Args:
      rewards, mask, scores: as in `whitened_scores`.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner when the batch was sampled and of the
        reference.
      penalty: the estimate of the KL, from the two log-probabilities.
      kl_coef: its weight.

    Returns:
      (P, G, T), 0 on padding.

    slime `get_reinforce_plus_plus_baseline_advantages`.
    """
    costs = kl_coef * penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    return whiten(scores(rewards=rewards)[..., None] - costs, mask, ddof=1, eps=EPS)


def whitened_with_teacher(
    advantages: Array,
    old_log_probs: Array,
    teacher_log_probs: Array,
    mask: Array,
    *,
    coef: float = 1.0,
) -> Array:
    """Add the log-ratio of a teacher to the advantages, then standardize over all tokens of the rollout.

        aₜ = Aₜ + coef (log πteacher - log πold),   Âₜ = (a - mean) / √(var + 1e-8)    over the tokens

    Args:
      advantages: (P, G, T) from the rewards.
      old_log_probs, teacher_log_probs: (P, G, T) in nats, of the learner when the batch was sampled and of the
        teacher.
      mask: (P, G, T) 1 on completion tokens.
      coef: opd_kl_coef.

    Returns:
      (P, G, T), 0 on padding.

    slime `apply_opd_kl_to_advantages`, before the whitening of `compute_advantages_and_returns`.
    """
    return whiten(advantages + coef * (teacher_log_probs - old_log_probs), mask, ddof=1, eps=EPS)


def whitened_returns(rewards: Array, mask: Array, *, gamma: float = 1.0) -> Array:
    """Put the reward at the last token, discount it backwards over all places, then standardize over the tokens.

        Gₜ = γ^(last - t) r,   Aₜ = (G - mean) / √(var + 1e-8)    over the tokens, with divisor N - 1

    Args:
      rewards: (P, G).
      mask: (P, G, T) 1 on completion tokens.
      gamma: the discount per place, holes in the mask included.

    Returns:
      (P, G, T), 0 on padding.

    slime `get_reinforce_plus_plus_returns`.
    """
    costs = array_namespace(rewards, mask).zeros_like(mask, dtype=rewards.dtype)
    return whiten(_returns(rewards, costs, mask, gamma), mask, ddof=1, eps=EPS)


def whitened_returns_less_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    penalty: Slot,
    kl_coef: float,
    gamma: float = 1.0,
) -> Array:
    """Compute `whitened_returns` with the KL to the reference subtracted from each token's reward.

        Gₜ = Σₛ₌ₜ γ^(s - t) (r [s is the last] - kl_coef penaltyₛ)

    Args:
      rewards, mask, gamma: as in `whitened_returns`.
      old_log_probs, ref_log_probs, penalty, kl_coef: as in `whitened_scores_less_penalty`.

    Returns:
      (P, G, T), 0 on padding.

    slime `get_reinforce_plus_plus_returns` with kl_coef.
    """
    costs = kl_coef * penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    return whiten(_returns(rewards, costs, mask, gamma), mask, ddof=1, eps=EPS)


def _returns(rewards: Array, costs: Array, mask: Array, gamma: float) -> Array:
    """Return the sums from each token on, (P, G, T): the reward at the last token, minus the costs."""
    xp = array_namespace(rewards, mask)
    places = xp.arange(mask.shape[TOKENS])
    last = xp.max(xp.where(is_set(mask), places, -1), axis=TOKENS, keepdims=True)
    gains = xp.where(places == last, rewards[..., None], 0.0) - where_mask(mask, costs)
    apart = places[:, None] - places[None, :]
    discounts = xp.where(apart >= 0, gamma ** xp.astype(at_least(apart, 0), gains.dtype), 0.0)
    return xp.matmul(gains, discounts)
