"""Corrections: constant weights on the surrogate of each token, which the penalty does not get.

The sampler's log-probabilities differ from the learner's, since other programs compute them in other
precisions. Write c = πold / πrollout; the truncated or masked c repairs the expectation. Other weights leave
out what is stale, of little interest, or cut off.

Every kernel returns (..., P, G, T) weights; a recipe multiplies those of all its corrections.
"""

import math
from collections.abc import Callable

from grpo_ref.arrays import BATCH, TOKENS, Array, array_namespace, is_set, masked_mean, where_mask
from grpo_ref.levels import token_level

ROUNDING = 1e-15
"""The place of a quantile, computed in float64, is off by this much at most for each token."""


def truncated(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = 3.0,
    max_log_ratio: float = math.inf,
    max_token_log_ratio: float = math.inf,
    unknown: float = 0.0,
) -> Array:
    """Truncated importance sampling: the ratio of learner to sampler, limited.

        w = clip(c, min_ratio, max_ratio),   c = exp(level(log πold - log πrollout))

    Args:
      old_log_probs: (P, G, T) of the learner when the batch was drawn, in nats.
      rollout_log_probs: (P, G, T) that the sampler reported, in nats; NaN where it reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      level: `token_level`, or a sequence level for one weight per completion. TRL and verl sum over
        the sequence, Open Instruct averages.
      min_ratio, max_ratio: bounds, 0 <= min_ratio <= max_ratio. TRL's vllm_importance_sampling_clip_max is 3,
        verl's rollout_is_threshold and Open Instruct's upper bound are 2.
      max_log_ratio: log c is limited to ± this after the level; 20 in verl. Open Instruct limits each token's
        to 10.
      unknown: the token's log c where the sampler reported NaN. 0 is TRL's and means no mismatch; NaN is
        the result in verl, OpenRLHF and RLinf, which do not check for it.

    Returns:
      (P, G, T) weights; 1 on padding under `token_level`.

    Raises:
      ValueError: if the bounds are out of order.

    Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training", TIS; TRL
    `vllm_importance_sampling_mode` "token_truncate" and "sequence_truncate".
    """
    _check(min_ratio, max_ratio)
    limits = max_token_log_ratio, max_log_ratio, unknown
    ratio = _ratio(old_log_probs, rollout_log_probs, mask, level, *limits)
    return array_namespace(ratio).clip(ratio, min_ratio, max_ratio)


def masked(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = 3.0,
    max_log_ratio: float = math.inf,
    max_token_log_ratio: float = math.inf,
    unknown: float = 0.0,
) -> Array:
    """Masked importance sampling: the ratio where it is inside the window, 0 elsewhere; IcePop's window.

        w = c [min_ratio <= c <= max_ratio],   c = exp(level(log πold - log πrollout))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio, max_log_ratio: as in `truncated`.
      max_token_log_ratio, unknown: as in `truncated`. An unknown that is NaN is in no window.

    Returns:
      (P, G, T) weights; the ratio keeps its value inside, as in TRL. A weight of 1 there is `indicator`.

    Raises:
      ValueError: if the bounds are out of order.

    Ling team 2025, IcePop; TRL "token_mask" and "sequence_mask" (its default); verl `rollout_is` with a
    window.
    """
    _check(min_ratio, max_ratio)
    limits = max_token_log_ratio, max_log_ratio, unknown
    ratio = _ratio(old_log_probs, rollout_log_probs, mask, level, *limits)
    return array_namespace(ratio).where(_inside(ratio, min_ratio, max_ratio), ratio, 0.0)


def indicator(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = 3.0,
    max_log_ratio: float = math.inf,
    max_token_log_ratio: float = math.inf,
    unknown: float = 0.0,
) -> Array:
    """1 where the ratio is inside the window, 0 where it is not: a filter, and the MIS of textbooks.

        w = [min_ratio <= c <= max_ratio],   c = exp(level(log πold - log πrollout))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio, max_log_ratio: as in `truncated`.
      max_token_log_ratio, unknown: as in `truncated`.
        With `sequence_mean_level` it is the geometric-mean filter.

    Returns:
      (P, G, T) of 0 and 1.

    Raises:
      ValueError: if the bounds are out of order.

    OpenRLHF "seq-mask-tis", its filter; as MIS in a book chapter on GRPO (2026, not public), sec. 7.5.7.
    """
    _check(min_ratio, max_ratio)
    limits = max_token_log_ratio, max_log_ratio, unknown
    ratio = _ratio(old_log_probs, rollout_log_probs, mask, level, *limits)
    return array_namespace(ratio).astype(_inside(ratio, min_ratio, max_ratio), ratio.dtype)


def off_policy_mask(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    threshold: float,
    unknown: float = 0.0,
) -> Array:
    """Give weight 0 to bad completions that the policy has already moved away from.

        w = 0 where A < 0 and mean over the completion of (log πrollout - log πθ) > threshold,    else 1

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      threshold: in nats per token; TRL's off_policy_mask_threshold, None there by default.
      unknown: the token's log-ratio where the sampler reported NaN; 0, TRL's, means that the policy has not
        moved.

    Returns:
      (P, G, T) of 0 and 1.

    DeepSeek-V3.2 (arXiv:2512.02556); TRL `get_off_policy_mask`.
    """
    xp = array_namespace(log_probs, rollout_log_probs, advantages, mask)
    apart = rollout_log_probs - log_probs
    apart = xp.where(xp.isnan(apart), unknown, apart)
    moved = masked_mean(apart, mask, axis=TOKENS, keepdims=True)
    keep = (advantages >= 0.0) | (moved <= threshold)
    return xp.astype(keep, log_probs.dtype)


def top_entropy(entropies: Array, mask: Array, *, share: float = 0.2) -> Array:
    """Keep only the tokens with the highest entropy.

        w = [H >= the (1 - share) quantile of the batch's token entropies]

    The quantile of n tokens lies at (1 - share)(n - 1) in their order, between two of them if that is not
    a whole number. If it is a whole number except for rounding, as 0.3 · 20 in floating point, that token is
    kept.

    Args:
      entropies: (P, G, T) entropy of the distribution each token was drawn from, in nats.
      mask: (P, G, T) 1 on completion tokens.
      share: of the tokens, 0 < share <= 1; 0.2 is the paper's, TRL's top_entropy_quantile is 1.0 by default.

    Returns:
      (P, G, T) of 0 and 1; the denominators of the aggregation stay as they are, as in TRL.

    Raises:
      ValueError: if share is out of range.

    Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939); TRL `get_high_entropy_mask`.
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share: expected 0 < share <= 1, got {share}")
    xp = array_namespace(entropies, mask)
    present = is_set(mask)
    flat = xp.reshape(xp.where(present, entropies, xp.inf), (*entropies.shape[:-3], -1))
    ordered = xp.sort(flat, axis=-1)
    tokens = xp.sum(xp.astype(present, xp.float64), axis=BATCH)[..., None]
    place = (1.0 - share) * xp.clip(tokens - 1.0, 0.0, None)
    nearest = xp.floor(place + 0.5)
    is_whole = abs(place - nearest) <= ROUNDING * tokens
    place = xp.where(is_whole, nearest, place)
    below = xp.floor(place)
    above = xp.clip(below + 1.0, None, xp.clip(tokens - 1.0, 0.0, None))
    low, high = (
        xp.where(tokens > 0.0, xp.take_along_axis(ordered, xp.astype(at, xp.int64), axis=-1), 0.0)
        for at in (below, above)
    )
    between = xp.astype(place - below, entropies.dtype)
    threshold = (low + between * (high - low))[..., None, None]
    return xp.astype((entropies >= threshold) & present, entropies.dtype)


def early_stop(log_ratio: Array, mask: Array, *, max_ratio: float = 5.0) -> Array:
    """Nothing of a batch counts whose mean importance ratio is too high.

        w = [mean over the tokens of the batch of r <= max_ratio],   r = exp(log_ratio)

    Args:
      log_ratio: (P, G, T) after the level, in nats.
      mask: (P, G, T) 1 on completion tokens.
      max_ratio: > 0; RLinf's early_stop_imp_ratio is 5.0. Low ratios stop nothing.

    Returns:
      (P, G, T) all 0 or all 1.

    RLinf's Megatron actor, which drops the current micro-batch only, and its penalty too: the penalty has
    an average of its own, `unless_stopped` in `grpo_ref.explain.dialects.rlinf.kernels`.
    """
    xp = array_namespace(log_ratio, mask)
    mean = masked_mean(xp.exp(log_ratio), mask, axis=BATCH, keepdims=True)
    return xp.astype(mean <= max_ratio, log_ratio.dtype) + xp.zeros_like(log_ratio)


def unlikely_under_reference(ref_log_probs: Array) -> Array:
    """Weight tokens by 1 - πref; a variant printed under the name Dr. GRPO.

        w = 1 - πref(t)

    Dr. GRPO itself has no such weights. It removes the std and the length, see `group_centered` and
    `fixed_length`.

    Args:
      ref_log_probs: (P, G, T) in nats.

    Returns:
      (P, G, T) weights between 0 and 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.4; see `grpo_ref.recipes.chapter`.
    """
    return -array_namespace(ref_log_probs).expm1(ref_log_probs)


def _ratio(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    level: Callable[[Array, Array], Array],
    max_token_log_ratio: float,
    max_log_ratio: float,
    unknown: float,
) -> Array:
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    difference = where_mask(mask, old_log_probs - rollout_log_probs)
    difference = xp.where(xp.isnan(difference), unknown, difference)
    difference = level(xp.clip(difference, -max_token_log_ratio, max_token_log_ratio), mask)
    return xp.exp(xp.clip(difference, -max_log_ratio, max_log_ratio))


def _inside(ratio: Array, min_ratio: float, max_ratio: float) -> Array:
    return (ratio >= min_ratio) & (ratio <= max_ratio)


def _check(min_ratio: float, max_ratio: float) -> None:
    if not 0.0 <= min_ratio <= max_ratio:
        raise ValueError(f"expected 0 <= min_ratio <= max_ratio, got {min_ratio} and {max_ratio}")
