"""Kernels of NeMo-RL: a baseline and spread of the other completions, a KL with the score term, finite weights."""

import math

from grpo_ref.advantages.moments import masked_moments
from grpo_ref.arrays import (
    BATCH,
    COMPLETIONS,
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    clamp,
    is_inside,
    is_set,
    masked_mean,
    masked_sum,
    where_mask,
)
from grpo_ref.levels import token_level
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

EPS = 1e-6
"""Added to a standard deviation that is not 0. If it is 0, nothing is divided."""
LEAST_VARIANCE = 1e-8
"""Lower limit of the variance over the tokens."""
Limits = tuple[float, float]
NO_LIMITS = (-math.inf, math.inf)


# ---- rewards ------------------------------------------------------------------------------------------


def scaled(rewards: Array, *, source: Limits, target: Limits) -> Array:
    """Limit rewards to one interval and map it onto another one.

        r ↦ target₀ + (clip(r, source) - source₀) / (source₁ - source₀) (target₁ - target₀)

    Args:
      rewards: (P, G).
      source: reward_scaling.source_min and source_max.
      target: reward_scaling.target_min and target_max.

    Returns:
      (P, G) rewards.

    NeMo-RL `scale_rewards`.
    """
    near = array_namespace(rewards).clip(rewards, *source)
    return target[0] + (near - source[0]) / (source[1] - source[0]) * (target[1] - target[0])


def less_overlong(
    rewards: Array,
    lengths: Array,
    *,
    longest: float,
    buffer: float,
    penalty: float = 1.0,
    source: Limits | None = None,
    target: Limits = (0.0, 1.0),
) -> Array:
    """Subtract a length penalty that grows over the end of the budget and beyond it.

        r - max(0, (|o| - (longest - buffer)) / buffer) penalty

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion; with several turns, of the first.
      longest: reward_shaping.max_response_length, in tokens.
      buffer: reward_shaping.overlong_buffer_length, in tokens.
      penalty: reward_shaping.overlong_buffer_penalty.
      source, target: as in `scaled`, which comes first; None to omit this step.

    Returns:
      (P, G) rewards. DAPO's penalty ends at -1; this one keeps growing where |o| is above `longest`.

    NeMo-RL `apply_reward_shaping`.
    """
    exceeds = array_namespace(rewards, lengths).astype(lengths, rewards.dtype) - (longest - buffer)
    return _scaled(rewards, source, target) - array_namespace(exceeds).clip(
        exceeds / buffer * penalty, 0.0, None
    )


def less_if_cut_off(
    rewards: Array, ended: Array, *, share: float, source: Limits | None = None, target: Limits = (0.0, 1.0)
) -> Array:
    """Multiply the rewards of truncated completions by a factor.

        r where the completion ended, share r elsewhere

    Args:
      rewards: (P, G).
      ended: (P, G) True where the completion ended by itself.
      share: reward_shaping.stop_properly_penalty_coef, 0 to 1. A reward below 0 becomes better by it.
      source, target: as in `less_overlong`.

    Returns:
      (P, G) rewards.

    NeMo-RL `apply_reward_shaping`.
    """
    rewards = _scaled(rewards, source, target)
    return array_namespace(rewards, ended).where(is_set(ended), rewards, share * rewards)


def _scaled(rewards: Array, source: Limits | None, target: Limits) -> Array:
    return rewards if source is None else scaled(rewards, source=source, target=target)


# ---- which groups and completions -----------------------------------------------------------------------


def varied_inside(rewards: Array, *, limits: Limits) -> Array:
    """Apply `mixed_groups` to limited rewards, so that two rewards beyond the same limit are equal.

        keep = max(clip(r)) ≠ min(clip(r))

    Args:
      rewards: (P, G), one row per prompt.
      limits: reward_scaling.source_min and source_max.

    Returns:
      (P,) True for groups that are kept.

    NeMo-RL `dynamic_sampling` after `scale_rewards`.
    """
    xp = array_namespace(rewards)
    near = xp.clip(rewards, *limits)
    return xp.max(near, axis=MEMBERS) != xp.min(near, axis=MEMBERS)


def any_others_differ(rewards: Array, *, limits: Limits = NO_LIMITS) -> Array:
    """Keep the groups in which `others_differ` keeps a completion: mixed groups of at least three.

        keep = any over i of others_differᵢ

    Args:
      rewards: (P, G), one row per prompt.
      limits: as in `varied_inside`.

    Returns:
      (P,) True where a completion of the group is left.

    NeMo-RL `dynamic_sampling` with use_leave_one_out_baseline.
    """
    return array_namespace(rewards).any(others_differ(rewards, limits=limits), axis=MEMBERS)


def others_differ(rewards: Array, *, limits: Limits = NO_LIMITS) -> Array:
    """Keep the completions for which the rewards of the rest of the group differ (dynamic sampling).

        admit = [the rewards of the others of the group are not all equal]

    This drops the only right answer of a group, because all others are equally wrong. The wrong ones stay.

    Args:
      rewards: (P, G), one row per prompt.
      limits: as in `varied_inside`.

    Returns:
      (P, G) True for completions that take part.

    NeMo-RL `dynamic_sampling`, which uses the standard deviation of the others.
    """
    xp = array_namespace(rewards)
    size = rewards.shape[MEMBERS]
    theirs = xp.clip(rewards, *limits)[..., None, :]
    itself = xp.eye(size, dtype=rewards.dtype) != 0.0
    largest = xp.max(xp.where(itself, -xp.inf, theirs), axis=-1)
    smallest = xp.min(xp.where(itself, xp.inf, theirs), axis=-1)
    return (largest != smallest) & (size > 2)


def ended_and_others_differ(rewards: Array, ended: Array, *, limits: Limits = NO_LIMITS) -> Array:
    """Apply `others_differ` and overlong filtering: truncated completions are excluded as well.

    Args:
      rewards: (P, G), one row per prompt.
      ended: (P, G) True where the completion ended by itself.
      limits: as in `varied_inside`.

    Returns:
      (P, G) True for completions that take part.
    """
    return others_differ(rewards, limits=limits) & is_set(ended)


def close_to_sampler(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, threshold: float
) -> Array:
    """Keep the completions on which learner and sampler agree. The others do not count in any denominator.

        admit = [mean over the completion of exp |log πrollout - log πold| <= threshold]

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens.
      threshold: seq_logprob_error_threshold, a factor; 1 means equal probabilities.

    Returns:
      (P, G) True where the completion takes part; one without any token does.

    NeMo-RL `compute_and_apply_seq_logprob_error_masking`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    apart = xp.exp(abs(where_mask(mask, rollout_log_probs - old_log_probs)))
    return masked_mean(apart, mask, axis=TOKENS) <= threshold


def ended_and_close(
    ended: Array, old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, threshold: float
) -> Array:
    """Apply `close_to_sampler` and overlong filtering: truncated completions are excluded as well.

    Args:
      ended: (P, G) True where the completion ended by itself.
      old_log_probs, rollout_log_probs, mask, threshold: as in `close_to_sampler`.

    Returns:
      (P, G) True for completions that take part.
    """
    return close_to_sampler(old_log_probs, rollout_log_probs, mask, threshold=threshold) & is_set(ended)


# ---- advantages -----------------------------------------------------------------------------------------


def limited(rewards: Array, *, scores: Slot, limits: Limits) -> Array:
    """Limit the final advantages.

        A = clip(scores(r), *limits)

    Args:
      rewards: (P, G), one row per prompt.
      scores: the part that compares the rewards of a group, (P, G) -> (P, G).
      limits: advantage_clip_low and advantage_clip_high.

    Returns:
      (P, G) advantages.

    NeMo-RL `_clip_grpo_advantages`.
    """
    return array_namespace(rewards).clip(scores(rewards=rewards), *limits)


def compared_with_others(
    rewards: Array, *, leave_one_out: bool = True, normalized: bool = True, ddof: int = 1, eps: float = EPS
) -> Array:
    """Compare each reward with the mean and spread of the *other* completions of the group.

        Aᵢ = (rᵢ - mean(r without rᵢ)) / (std(r without rᵢ) + eps)

    If the others are all equal, as for the only right answer of a group, nothing is divided. That answer then
    has an advantage of 1 if it is rewarded with 1 and the others with 0, and the advantages of the wrong ones grow with
    the group size. This holds for exact numbers. NeMo-RL computes the variance in float32, as a difference of two means,
    and a rounding error in place of 0 makes the advantage as large as 4000.

    Args:
      rewards: (P, G), one row per prompt.
      leave_one_out: if true, baseline and spread exclude the completion itself; if false, they are of the
        whole group.
      normalized: if true, divide by the spread.
      ddof: subtracted from the number of compared rewards to get the divisor of the variance; 1 from 0.4 on, before 0.
      eps: added to the spread; 1e-6 from 0.4 on, before 0.

    Returns:
      (P, G). A group of one gets 0, and so does a group of equal rewards. There, rounding in float32 leaves
      NeMo-RL advantages of up to 3e-4 if the reward is not a sum of powers of 2. The rows do not sum to zero.

    NeMo-RL `GRPOAdvantageEstimator`, `calculate_baseline_and_std_per_prompt`.

    >>> import numpy as np
    >>> compared_with_others(np.array([[1.0, 0.0, 0.0]])).round(3)
    array([[ 1.   , -0.707, -0.707]])
    """
    present = array_namespace(rewards).ones_like(rewards)
    return _compared(rewards, present, leave_one_out=leave_one_out, normalized=normalized, ddof=ddof, eps=eps)


def compared_after_filter(
    rewards: Array,
    components: Array,
    weights: Array,
    *,
    leave_one_out: bool = True,
    normalized: bool = True,
    source: Limits = NO_LIMITS,
    limits: Limits = NO_LIMITS,
) -> Array:
    """Compare only the completions that `others_differ` keeps, among themselves.

        A = compared(r of those that are left), 0 for the others

    Without shaping, the remaining completions of a group with one odd reward are all equal and get 0.

    Args:
      rewards: (P, G) after shaping, one row per prompt.
      components, weights: (P, G, C) and (C,). Their weighted sum is the reward used by the filter.
      leave_one_out, normalized: as in `compared_with_others`.
      source: as in `varied_inside`.
      limits: as in `limited`.

    Returns:
      (P, G) advantages.

    NeMo-RL `dynamic_sampling`, then `GRPOAdvantageEstimator`.
    """
    present = _left(rewards, components, weights, source)
    scores = _compared(rewards, present, leave_one_out=leave_one_out, normalized=normalized)
    return array_namespace(scores).clip(scores, *limits) * present


def each_compared_then_summed(
    components: Array,
    *,
    reward_weights: tuple[float, ...] = (1.0,),
    leave_one_out: bool = True,
    normalized: bool = True,
    source: Limits | None = None,
    target: Limits = (0.0, 1.0),
    limits: Limits = NO_LIMITS,
) -> Array:
    """Compute GDPO with the other completions as the baseline, and without an eps in the last step.

        aᵢ = Σₖ wₖ compared(rₖ)ᵢ,   A = (a - mean) / std    over the completions of the batch

    Args:
      components: (P, G, C) one reward per criterion, in the order of their names; shaping does not touch them.
      reward_weights: adv_estimator.reward_weights; one is for all.
      leave_one_out, normalized: as in `compared_with_others`.
      source, target: as in `less_overlong`, for every criterion.
      limits: as in `limited`.

    Returns:
      (P, G); all 0 where the sums are equal.

    GDPO (arXiv:2601.05242); NeMo-RL `GDPOAdvantageEstimator`.
    """
    present = array_namespace(components).ones_like(components[..., 0])
    mapped = _scaled(components, source, target)
    compared = {"leave_one_out": leave_one_out, "normalized": normalized}
    return _summed(mapped, present, reward_weights, limits, **compared)


def each_compared_after_filter(
    components: Array,
    weights: Array,
    *,
    reward_weights: tuple[float, ...] = (1.0,),
    leave_one_out: bool = True,
    normalized: bool = True,
    source: Limits | None = None,
    target: Limits = (0.0, 1.0),
    limits: Limits = NO_LIMITS,
) -> Array:
    """Compute `each_compared_then_summed` for only the completions that `others_differ` keeps.

    Args:
      components, weights: (P, G, C) and (C,), whose weighted sum is the reward that is filtered by.
      reward_weights, leave_one_out, normalized, source, target, limits: as in `each_compared_then_summed`.

    Returns:
      (P, G), 0 where the completion does not take part.

    NeMo-RL `dynamic_sampling`, then `GDPOAdvantageEstimator`.
    """
    xp = array_namespace(components)
    rewards = xp.sum(components * weights, axis=-1)
    left = others_differ(rewards, limits=NO_LIMITS if source is None else source)
    mapped = _scaled(components, source, target)
    compared = {"leave_one_out": leave_one_out, "normalized": normalized}
    return _summed(mapped, xp.astype(left, components.dtype), reward_weights, limits, **compared)


def whitened_over_tokens(
    rewards: Array, mask: Array, *, baseline: bool = True, limits: Limits = NO_LIMITS
) -> Array:
    """Subtract the group's mean, then standardize over the tokens of the batch, with divisor N.

        a = r - mean(r),   A = (a - mean) / √max(var, 1e-8)    over the tokens

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on the tokens that take part.
      baseline: adv_estimator.minus_baseline.
      limits: as in `limited`.

    Returns:
      (P, G, T), 0 on padding.

    NeMo-RL `ReinforcePlusPlusAdvantageEstimator`.
    """
    xp = array_namespace(rewards, mask)
    present = xp.ones_like(rewards)
    return _whitened(rewards, present, xp.zeros_like(mask, dtype=rewards.dtype), mask, baseline, limits)


def whitened_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    penalty: Slot,
    kl_coef: float,
    baseline: bool = True,
    limits: Limits = NO_LIMITS,
) -> Array:
    """Subtract each token's KL to the reference from its advantage, then standardize over the tokens.

        aₜ = r - mean(r) - kl_coef penaltyₜ,   A = (a - mean) / √max(var, 1e-8)    over the tokens

    The penalties of later tokens are not added: each token has only its own.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on the tokens that take part.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner at sampling time and of the reference.
      penalty: the estimate of the KL, from the two log-probabilities; it has no limits here.
      kl_coef: its weight, reference_policy_kl_penalty.
      baseline, limits: as in `whitened_over_tokens`.

    Returns:
      (P, G, T), 0 on padding.

    NeMo-RL `ReinforcePlusPlusAdvantageEstimator` with use_kl_in_reward.
    """
    present = array_namespace(rewards).ones_like(rewards)
    costs = kl_coef * penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    return _whitened(rewards, present, costs, mask, baseline, limits)


def whitened_after_filter(
    rewards: Array,
    components: Array,
    weights: Array,
    mask: Array,
    *,
    baseline: bool = True,
    source: Limits = NO_LIMITS,
    limits: Limits = NO_LIMITS,
) -> Array:
    """Compute `whitened_over_tokens` for only the completions that `others_differ` keeps.

    Args:
      rewards: (P, G) after shaping, one row per prompt.
      components, weights, source: as in `compared_after_filter`.
      mask: (P, G, T) 1 on completion tokens.
      baseline, limits: as in `whitened_over_tokens`.

    Returns:
      (P, G, T), 0 where the completion does not take part.

    NeMo-RL `dynamic_sampling`, then `ReinforcePlusPlusAdvantageEstimator`.
    """
    xp = array_namespace(rewards, mask)
    present = _left(rewards, components, weights, source)
    left = where_mask(present[..., None], xp.astype(is_set(mask), rewards.dtype))
    return _whitened(rewards, present, xp.zeros_like(left), left, baseline, limits)


def _left(rewards: Array, components: Array, weights: Array, source: Limits) -> Array:
    """Return 1 where `others_differ` keeps the completion, (P, G)."""
    xp = array_namespace(rewards, components)
    return xp.astype(others_differ(xp.sum(components * weights, axis=-1), limits=source), rewards.dtype)


def _compared(
    rewards: Array, present: Array, *, leave_one_out: bool, normalized: bool, ddof: int = 1, eps: float = EPS
) -> Array:
    """Compare rewards with mean and spread of the present ones, (P, G), excluding the completion itself or not."""
    xp = array_namespace(rewards, present)
    size = rewards.shape[MEMBERS]
    others = present[..., None, :] * (1.0 - xp.eye(size, dtype=rewards.dtype) * float(leave_one_out))
    number = xp.sum(others, axis=-1)
    values = rewards[..., None, :]
    mean = xp.sum(others * values, axis=-1) / xp.clip(number, 1.0, None)
    squares = xp.sum(others * (values - mean[..., None]) ** 2, axis=-1)
    std = xp.where(number > ddof, xp.sqrt(squares / xp.clip(number - ddof, 1.0, None)), 0.0)
    alone = xp.sum(present, axis=MEMBERS, keepdims=True) <= 1.0
    centered = xp.where(alone, 0.0, rewards - mean)
    equal = xp.all(xp.where(others != 0.0, values == _some(values, others), True), axis=-1)
    centered = xp.where(equal & ~alone, rewards - _some(values, others)[..., 0], centered)
    divided = normalized & (std > 0.0) & ~equal & ~alone
    return xp.where(divided, centered / xp.where(divided, std + eps, 1.0), centered)


def _summed(
    components: Array, present: Array, weights: tuple[float, ...], limits: Limits, **compared: bool
) -> Array:
    """Return the weighted sum of compared rewards, (P, G), standardized over the present completions."""
    xp = array_namespace(components, present)
    each = xp.moveaxis(components, -1, 0)
    scores = xp.moveaxis(_compared(each, present + xp.zeros_like(each), **compared), 0, -1)
    total = xp.sum(scores * xp.asarray(weights, dtype=scores.dtype), axis=-1)
    mean, variance = masked_moments(total, present, axis=COMPLETIONS, ddof=1)
    std = xp.sqrt(variance)
    return xp.clip((total - mean) / xp.where(std > 0.0, std, 1.0), *limits) * present


def _some(values: Array, others: Array) -> Array:
    """Return the largest of the present values, (P, G, 1)."""
    xp = array_namespace(values, others)
    return xp.max(xp.where(others != 0.0, values, -xp.inf), axis=-1, keepdims=True)


def _whitened(
    rewards: Array, present: Array, costs: Array, mask: Array, baseline: bool, limits: Limits
) -> Array:
    xp = array_namespace(rewards, mask)
    scores = _compared(rewards, present, leave_one_out=False, normalized=False) if baseline else rewards
    values = scores[..., None] - costs
    mean, variance = masked_moments(values, mask, axis=BATCH, ddof=0)
    whitened = (values - mean) / xp.sqrt(xp.clip(variance, LEAST_VARIANCE, None))
    return where_mask(mask, xp.clip(whitened, *limits))


# ---- the loss -------------------------------------------------------------------------------------------


def ratio_of_one(log_probs: Array, advantages: Array) -> Term:
    """Compute the policy gradient of data that is treated as on-policy: the ratio is 1, but its slope remains.

        sₜ = A πθ(t) / sg[πθ(t)]

    Args:
      log_probs: (P, G, T) log πθ of the tokens, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.

    Returns:
      Term of (P, G, T) arrays; value and direct slope are the advantage.

    NeMo-RL `ClippedPGLossFn` with force_on_policy_ratio.
    """
    value = advantages + array_namespace(log_probs, advantages).zeros_like(log_probs)
    return Term(value=value, direct=value)


def scored(
    log_probs: Array,
    ref_log_probs: Array,
    *,
    estimator: str = "k3",
    max_log_ratio: float = 20.0,
    max_value: float = 10.0,
) -> Term:
    """Estimate the KL with a slope that includes the score term, as the tokens were sampled from the policy.

        value = estimate(v),   slope = estimate'(v) + estimate(v),   v = log πθ - log πref

    On average over the policy's own tokens, the slope is that of KL(πθ ‖ πref) for any estimator. For k3 the
    slope is v, for k1 it is 1 + v.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      estimator: reference_policy_kl_type, "k1", "k2" or "k3".
      max_log_ratio: limit of |v|, kl_input_clamp_value; the slope is 0 beyond it.
      max_value: limit of the value, kl_output_clamp_value, applied next; the slope is 0 beyond it.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    Tang and Munos 2025 (arXiv:2506.09477); NeMo-RL `ClippedPGLossFn` and `calculate_kl`.
    """
    weight = array_namespace(log_probs).ones_like(log_probs)
    return _scored(log_probs - ref_log_probs, weight, estimator, max_log_ratio, max_value)


def scored_against_sampler(
    log_probs: Array,
    ref_log_probs: Array,
    rollout_log_probs: Array,
    *,
    estimator: str = "k3",
    max_log_ratio: float = 20.0,
    max_value: float = 10.0,
) -> Term:
    """Multiply `scored` by the ratio of policy to sampler, which has no limits and contributes to the slope.

        w estimate(v),   w = πθ / πrollout

    Args:
      log_probs, ref_log_probs, rollout_log_probs: (P, G, T) in nats; a non-finite w is replaced by 0.
      estimator, max_log_ratio: as in `scored`.
      max_value: as in `scored`, of the product.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    NeMo-RL `ClippedPGLossFn` with use_on_policy_kl_approximation.
    """
    weight = _finite(array_namespace(log_probs).exp(log_probs - rollout_log_probs))
    return _scored(log_probs - ref_log_probs, weight, estimator, max_log_ratio, max_value)


def _scored(v: Array, weight: Array, estimator: str, max_log_ratio: float, max_value: float) -> Term:
    xp = array_namespace(v, weight)
    near = clamp(v, max_log_ratio)
    estimates = {
        "k1": (near, xp.ones_like(near)),
        "k2": (0.5 * near**2, near),
        "k3": (xp.expm1(-near) + near, -xp.expm1(-near)),
    }
    estimate, slope = estimates[estimator]
    value = weight * estimate
    passes = is_inside(v, max_log_ratio) & is_inside(value, max_value)
    return Term(value=clamp(value, max_value), direct=xp.where(passes, weight * (slope + estimate), 0.0))


def finite_ratio(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    whole: bool = False,
    min_ratio: float = 0.0,
    max_ratio: float = math.inf,
) -> Array:
    """Return the limited ratio of learner to sampler. A non-finite ratio counts as 0 before it is limited.

        w = clip(c, min_ratio, max_ratio),   c = πold / πrollout where that is finite, 0 elsewhere

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens.
      whole: if true, c is the product over the completion.
      min_ratio, max_ratio: truncated_importance_sampling_ratio_min and truncated_importance_sampling_ratio.

    Returns:
      (P, G, T) weights.

    NeMo-RL `ClippedPGLossFn`, "tis".
    """
    ratio = _ratio(old_log_probs, rollout_log_probs, mask, whole)
    return array_namespace(ratio).clip(ratio, min_ratio, max_ratio)


def finite_window(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    whole: bool = False,
    min_ratio: float,
    max_ratio: float,
) -> Array:
    """Return the ratio of `finite_ratio` where it is inside the window, and 0 elsewhere.

        w = c [min_ratio <= c <= max_ratio]

    Args:
      old_log_probs, rollout_log_probs, mask, whole, min_ratio, max_ratio: as in `finite_ratio`.

    Returns:
      (P, G, T) weights.

    NeMo-RL `ClippedPGLossFn`, "icepop".
    """
    ratio = _ratio(old_log_probs, rollout_log_probs, mask, whole)
    return array_namespace(ratio).where((ratio >= min_ratio) & (ratio <= max_ratio), ratio, 0.0)


def finite_geometric_filter(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, min_ratio: float, max_ratio: float
) -> Array:
    """Return 1 for completions whose geometric mean of ratios is inside a window.

    Non-finite log-ratios count as 0.

        w = [min_ratio <= exp((1/|o|) Σₜ log c) <= max_ratio]

    Args:
      old_log_probs, rollout_log_probs, mask, min_ratio, max_ratio: as in `finite_ratio`.

    Returns:
      (P, G, T) of 0 and 1.

    NeMo-RL `ClippedPGLossFn`, "seq-mask-tis".
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    log_ratio = _finite(where_mask(mask, old_log_probs - rollout_log_probs))
    mean = xp.exp(masked_mean(log_ratio, mask, axis=TOKENS, keepdims=True))
    inside = (mean >= min_ratio) & (mean <= max_ratio)
    return xp.astype(inside, mean.dtype) + xp.zeros_like(log_ratio)


def of_the_policy(log_probs: Array, rollout_log_probs: Array, mask: Array, *, weights: Slot) -> Array:
    """Return weights of the policy itself against the sampler, as its ratio to the old policy is set to 1.

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats; both are constants here.
      mask: (P, G, T) 1 on completion tokens.
      weights: the part that turns the ratio into weights.

    Returns:
      (P, G, T) weights.

    NeMo-RL `ClippedPGLossFn` with force_on_policy_ratio.
    """
    return weights(old_log_probs=log_probs, rollout_log_probs=rollout_log_probs, mask=mask)


def _ratio(old_log_probs: Array, rollout_log_probs: Array, mask: Array, whole: bool) -> Array:
    apart = token_level(old_log_probs - rollout_log_probs, mask)
    xp = array_namespace(apart)
    if whole:
        apart = masked_sum(apart, mask, axis=TOKENS, keepdims=True) + xp.zeros_like(apart)
    return _finite(xp.exp(apart))


def _finite(values: Array) -> Array:
    xp = array_namespace(values)
    return xp.where(xp.isfinite(values), values, 0.0)


# ---- recorded cases -------------------------------------------------------------------------------------
