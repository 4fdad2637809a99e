"""Kernels of OpenRLHF: rewards that are limited after the baseline and become returns per token, and others."""

from collections.abc import Callable

from grpo_ref.advantages import group_centered
from grpo_ref.advantages.moments import masked_moments
from grpo_ref.arrays import (
    BATCH,
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    at_least,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.levels import sequence_mean_level
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.recipes import Slot
from grpo_ref.rewards import soft_overlong_punishment
from grpo_ref.types import Term

LIMITS = (-10.0, 10.0)
"""The default of reward.clip_range."""
LEAST_VARIANCE = 1e-8
"""Lower limit of the variance of the advantages."""
Scores = Callable[..., Array]
"""A part that subtracts the baseline, (P, G) -> (P, G): a kernel, or a slot with settings."""


def limited(rewards: Array, *, scores: Scores, limits: tuple[float, float] = LIMITS) -> Array:
    """Limit the rewards after the baseline was subtracted, not before.

        A = clip(scores(r), *limits)

    Args:
      rewards: (P, G), one row per prompt.
      scores: the part that takes the baseline off, (P, G) -> (P, G).
      limits: reward.clip_range.

    Returns:
      (P, G) advantages.

    OpenRLHF `compute_reward`.
    """
    return array_namespace(rewards).clip(scores(rewards=rewards), *limits)


def returned(
    rewards: Array,
    mask: Array,
    *,
    scores: Scores = group_centered,
    limits: tuple[float, float] = LIMITS,
    gamma: float = 1.0,
    divided: bool = True,
) -> Array:
    """Put the reward at the last token and discount it backwards, then whiten over the tokens of the batch.

        Gₜ = γ^(last - t) clip(scores(r), *limits),   A = (G - mean) / √max(var, 1e-8)    over the tokens

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      scores, limits: as in `limited`.
      gamma: the discount per position, holes in the mask included.
      divided: whether the result is divided by the standard deviation over the tokens, which has divisor N.

    Returns:
      (P, G, T), 0 on padding.

    OpenRLHF `compute_advantages_and_returns` with "reinforce_baseline", and with "reinforce"; before 0.8.5 "rloo" too.
    """
    costs = array_namespace(rewards, mask).zeros_like(mask, dtype=rewards.dtype)
    return _returned(rewards, mask, costs, scores=scores, limits=limits, gamma=gamma, divided=divided)


def returned_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    alone: Slot,
    penalty: Slot,
    kl_coef: float,
) -> Array:
    """Subtract the KL to the reference from each token's reward.

    An advantage sums all rewards from its token on.

        Gₜ = Σₛ₌ₜ γ^(s - t) (alone(r) [s is the last] - kl_coef penaltyₛ)

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner when the batch was sampled and of the
        reference.
      alone: the advantage without a penalty. An advantage per completion is at the last token, and γ is 1.
        `returned` uses its own γ, and whitens the result.
      penalty: the estimate of the KL, from the two log-probabilities.
      kl_coef: its weight, algo.kl.init_coef.

    Returns:
      (P, G, T), 0 on padding.

    OpenRLHF `make_experience` and `compute_reward` without algo.kl.use_loss.
    """
    estimate = penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    costs = kl_coef * where_mask(mask, estimate)
    if alone.kernel is returned:
        return _returned(rewards, mask, costs, **alone.settings)
    return _returns(alone(rewards=rewards), costs, mask, gamma=1.0)


def _returned(
    rewards: Array,
    mask: Array,
    costs: Array,
    *,
    scores: Scores,
    limits: tuple[float, float],
    gamma: float,
    divided: bool,
) -> Array:
    """Return the returns of the limited reward minus the costs, whitened over the tokens of the batch."""
    shaped = limited(rewards, scores=scores, limits=limits)
    returns = _returns(shaped, costs, mask, gamma)
    mean, variance = masked_moments(returns, mask, axis=BATCH, ddof=0)
    scale = array_namespace(returns).sqrt(at_least(variance, LEAST_VARIANCE)) if divided else 1.0
    return where_mask(mask, (returns - mean) / scale)


def _returns(shaped: Array, costs: Array, mask: Array, gamma: float) -> Array:
    """Return discounted sums from each token on, (P, G, T): the reward at the last token, minus the costs."""
    xp = array_namespace(shaped, mask)
    places = xp.arange(mask.shape[TOKENS])
    last = xp.max(xp.where(is_set(mask), places, -1), axis=TOKENS, keepdims=True)
    gains = xp.where(places == last, shaped[..., None], 0.0) - costs
    apart = places[:, None] - places[None, :]
    discounts = xp.where(apart >= 0, gamma ** xp.astype(at_least(apart, 0), gains.dtype), 0.0)
    return where_mask(mask, xp.matmul(gains, discounts))


def shaped_reward(
    rewards: Array,
    lengths: Array,
    ended: Array,
    max_length: int,
    *,
    buffer: float | None = None,
    factor: float = 1.0,
    stop: float | None = None,
) -> Array:
    """Subtract two penalties from the reward: for the end of the budget, then for truncation.

        r + factor soft_overlong_punishment,   then of what was cut off: stop r if stop >= 0, else stop itself

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion.
      ended: (P, G) True where the completion ended by itself.
      max_length: the generation budget in tokens.
      buffer: as in `soft_overlong_punishment`, as a fraction of the budget; None for no such penalty.
      factor: its largest size, reward.overlong_penalty_factor.
      stop: reward.stop_properly_penalty_coef; None for no such penalty.

    Returns:
      (P, G) shaped rewards.

    OpenRLHF `apply_length_penalties`.
    """
    if buffer:
        rewards = rewards + factor * soft_overlong_punishment(lengths, max_length, buffer=buffer)
    if stop is None:
        return rewards
    cut_off = stop * rewards if stop >= 0.0 else stop
    return array_namespace(rewards, ended).where(is_set(ended), rewards, cut_off)


def mean_between(rewards: Array, *, low: float = 0.0, high: float = 1.0) -> Array:
    """Keep the groups whose mean reward is strictly inside a range, whether or not their rewards differ.

        keep = low < mean(r) < high

    With rewards of 0 and 1 and the default range it is `mixed_groups`; with -1 and 1 it is not.

    Args:
      rewards: (P, G), one row per prompt.
      low, high: algo.dynamic_filtering_range.

    Returns:
      (P,) True for groups that are kept.

    OpenRLHF `SamplesGenerator._generate_vllm`, which reads the scores, as Python's numbers.
    """
    xp = array_namespace(rewards)
    mean = xp.mean(xp.astype(rewards, xp.float64), axis=MEMBERS)
    return (mean > low) & (mean < high)


def window_times_ratio(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, min_ratio: float, max_ratio: float
) -> Array:
    """Apply `masked` as a product, so that NaN outside the window remains NaN.

        w = c · [min_ratio <= c <= max_ratio],   c = exp(log πold - log πrollout)

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; NaN where the sampler reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      min_ratio, max_ratio: algo.advantage.is_correction_threshold.

    Returns:
      (P, G, T) weights; NaN where c is NaN or infinite, as 0 · ∞ is.

    OpenRLHF `PolicyLoss`, "icepop".
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    ratio = xp.exp(where_mask(mask, old_log_probs - rollout_log_probs))
    outside = xp.where(xp.isfinite(ratio), 0.0, xp.nan)
    return xp.where((ratio >= min_ratio) & (ratio <= max_ratio), ratio, outside)


def ratio_inside(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: str = "token",
    min_ratio: float,
    max_ratio: float,
) -> Array:
    """Keep the ratio of learner to sampler where it is within the bounds. NaN is outside.

        w = c · [min_ratio <= ρ <= max_ratio],   c = exp(log πold - log πrollout)

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; NaN where the sampler reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      level: "token" for ρ = c, or "seq" for ρ as the geometric mean of c over the completion.
      min_ratio, max_ratio: algo.advantage.is_correction_threshold. If they are in the wrong order, every weight is 0.

    Returns:
      (P, G, T) weights; 0 where a token or a completion is dropped.

    OpenRLHF 0.11.2, `PolicyLoss` with is_correction_mode "mask".
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    log_ratio = where_mask(mask, old_log_probs - rollout_log_probs)
    statistic = log_ratio
    if level == "seq":
        statistic = masked_mean(log_ratio, mask, axis=TOKENS, keepdims=True) + xp.zeros_like(mask)
    statistic = xp.exp(statistic)
    return xp.where((statistic >= min_ratio) & (statistic <= max_ratio), xp.exp(log_ratio), 0.0)


def the_same(old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, weight: float) -> Array:
    """Return the constant weight that a window with swapped bounds gives, for any ratio.

        w = weight

    Each ratio is limited from below first and then from above, so it becomes the upper bound. No ratio is
    inside the window.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; NaN where the sampler reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      weight: the upper bound of "tis", or 0.

    Returns:
      (P, G, T) weights; NaN where the ratio is NaN.

    OpenRLHF `PolicyLoss`, "tis" and "seq-mask-tis" with is_correction_threshold [2.0, 0.5].
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    difference = where_mask(mask, old_log_probs - rollout_log_probs)
    return xp.where(xp.isnan(difference), difference, weight)


def clipped_anywhere(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float,
    clip_high: float,
    max_ratio: float | None = None,
) -> Term:
    """Apply `clipped` with half-widths of any sign, so that the bounds may be on one side of 1 or swapped.

        s = min(r A, b A),   b = min(max(r, 1 - clip_low), 1 + clip_high);   where A < 0 max(s, max_ratio A)

    If the lower bound is above the upper one, b is the upper bound for any r.

    Args:
      log_ratio: (P, G, T) after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: any numbers; usual ones give `clipped`.
      max_ratio: as in `dual_clipped`; None for no floor.

    Returns:
      Term of two (P, G, T) arrays: s, and its slope in log r.

    OpenRLHF `PolicyLoss`, which does not check the bounds, as with actor.eps_clip = -0.1.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio, upper = xp.exp(log_ratio), 1.0 + clip_high
    free, held = (each * advantages for each in (ratio, xp.clip(ratio, min(1.0 - clip_low, upper), upper)))
    value = xp.where(held < free, held, free)
    stopped = held < free
    if max_ratio is not None:
        floored = (advantages < 0.0) & (value < max_ratio * advantages)
        value, stopped = xp.where(floored, max_ratio * advantages, value), stopped | floored
    return Term(value=value, slope=xp.where(stopped, 0.0, free))


def clipped_against_sampler(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    max_ratio: float | None = None,
) -> Term:
    """Compute GSPO with a rollout correction: the completion's ratio is that of learner to sampler, without weights.

        s = clipped(z, A),   z = (1/|o|) Σₜ (log πθ - log πrollout)

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.
      clip_low, clip_high, max_ratio: as in `clipped_anywhere`.

    Returns:
      Term of two (P, G, T) arrays: s, and its slope in z.

    OpenRLHF `PolicyLoss`, "gspo" with enable_vllm_is_correction.
    """
    log_ratio = sequence_mean_level(log_probs - rollout_log_probs, mask)
    clips = {"clip_low": clip_low, "clip_high": clip_high}
    return clipped_anywhere(log_ratio, advantages, **clips, max_ratio=max_ratio)


def less_batch_mean(rewards: Array) -> Array:
    """Subtract the mean reward of the whole rollout. Nothing is divided, and no group is needed.

        Aᵢ = rᵢ - mean(r)    over all completions

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G) advantages.

    OpenRLHF 0.11.2, flash_reinforce in `experience_maker.py`.
    """
    return rewards - array_namespace(rewards).mean(rewards)


def ratio_below_divergence(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    statistic: str,
    level: str = "token",
    max_value: float,
) -> Array:
    """Keep the ratio of learner to sampler where their divergence is small.

        w = r [D <= max_value],    r = q / p,  q = exp(log πold),  p = exp(log πrollout)
        binary_kl: D = p log(p/q) + (1-p) log((1-p)/(1-q)),    tv: D = |p - q|

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats. In D the probabilities are limited to [1e-6, 1 - 1e-6].
      mask: (P, G, T) 1 on completion tokens.
      statistic: "binary_kl" or "tv", of the sampled token.
      level: "token", or "seq" for the mean of D over the completion.
      max_value: upper bound of D.

    Returns:
      (P, G, T) weights; 0 where a token or a completion is dropped.

    OpenRLHF 0.11.2, `PolicyLoss` with is_correction_gating.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    p = xp.clip(xp.exp(rollout_log_probs), 1e-6, 1.0 - 1e-6)
    q = xp.clip(xp.exp(old_log_probs), 1e-6, 1.0 - 1e-6)
    divergence = xp.abs(p - q)
    if statistic == "binary_kl":
        divergence = p * xp.log(p / q) + (1.0 - p) * xp.log((1.0 - p) / (1.0 - q))
    if level == "seq":
        divergence = masked_mean(divergence, mask, axis=TOKENS, keepdims=True) + xp.zeros_like(divergence)
    return xp.where(divergence <= max_value, xp.exp(old_log_probs - rollout_log_probs), 0.0)


def unbiased_gradient(
    log_probs: Array,
    ref_log_probs: Array,
    old_log_probs: Array,
    *,
    estimator: str,
    limit: float = 10.0,
    max_ratio: float = 10.0,
) -> Term:
    """Report an estimate of the KL, but use the gradient of the true reverse KL.

        value = clip(estimate(v), -limit, limit),    slope = min(r, max_ratio) v
        v = log πθ - log πref,  r = πθ / πold, a constant in the slope

    Args:
      log_probs, ref_log_probs, old_log_probs: (P, G, T) in nats.
      estimator: "k1", "k2" or "k3", of the value alone.
      limit: limit of the value's absolute value.
      max_ratio: upper limit of r.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    OpenRLHF 0.11.1, `compute_approx_kl` with algo.kl.unbiased_gradient.
    """
    xp = array_namespace(log_probs, ref_log_probs, old_log_probs)
    value = {"k1": k1, "k2": k2, "k3": k3}[estimator](log_probs, ref_log_probs).value
    ratio = xp.clip(xp.exp(log_probs - old_log_probs), 0.0, max_ratio)
    return Term(value=xp.clip(value, -limit, limit), direct=ratio * (log_probs - ref_log_probs))
