"""Corrections: constant weights on the surrogate of each token; the penalty is not weighted.

The sampler and the learner are different programs and may use different precisions, so they compute different
log-probabilities of the same token. Weighting by the ratio ρ = πold / πrollout makes up for the difference on
average; `truncated` and `masked` limit ρ to avoid very large weights. Other corrections drop tokens: those of
stale completions (`off_policy_mask`), tokens with a low entropy (`top_entropy`), or a whole batch
(`early_stop`).

Every kernel (a plain function that a recipe uses as a part) returns (..., P, G, T) weights. A recipe
multiplies the weights of all its corrections; the product is called c. In the formulas, [condition] is 1 if
the condition is true and 0 otherwise.
"""

import math
from collections.abc import Callable

from grpo_ref.arrays import BATCH, TOKENS, Array, array_namespace, is_set, masked_mean, where_mask
from grpo_ref.levels import token_level

ROUNDING = 1e-15
"""Tolerance, per token, for rounding in `position` in `_quantile`."""


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

        w = clip(ρ, min_ratio, max_ratio),   ρ = exp(level(log πold - log πrollout))

    Args:
      old_log_probs: (P, G, T) of the learner when the batch was drawn, in nats.
      rollout_log_probs: (P, G, T) that the sampler reported, in nats; NaN where it reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      level: `token_level` for one weight per token, or a sequence level for one weight per completion. TRL
        and verl use the sum over the sequence, Open Instruct the mean.
      min_ratio, max_ratio: bounds, 0 <= min_ratio <= max_ratio. TRL's vllm_importance_sampling_clip_max is 3,
        verl's rollout_is_threshold and Open Instruct's upper bound are 2.
      max_log_ratio: log ρ is limited to ± this after the level; 20 in verl.
      max_token_log_ratio: each token's log ρ is limited to ± this before the level; 10 in Open Instruct.
      unknown: a token's log ρ if the sampler reported NaN. 0 means no mismatch, as in TRL. NaN gives the
        result of verl, OpenRLHF and RLinf, which do not check for NaN.

    Returns:
      (P, G, T) weights. On padding ρ is 1 at every level of `grpo_ref.levels`, so the weight there is 1, or
      the nearer bound if 1 is outside the bounds.

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
    """Masked importance sampling: the ratio where it is within the bounds, 0 elsewhere, as in IcePop.

        w = ρ [min_ratio <= ρ <= max_ratio],   ρ = exp(level(log πold - log πrollout))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio, max_log_ratio: as in `truncated`.
      max_token_log_ratio, unknown: as in `truncated`. If `unknown` is NaN, the weight is 0 there.

    Returns:
      (P, G, T) weights. Within the bounds the weight is the ratio, as in TRL; in `indicator` it is 1.

    Raises:
      ValueError: if the bounds are out of order.

    Ling team 2025, IcePop; TRL "token_mask" and "sequence_mask" (its default); verl `rollout_is` with a
    lower bound.
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
    """1 where the ratio is within the bounds, 0 elsewhere: a filter without weights.

        w = [min_ratio <= ρ <= max_ratio],   ρ = exp(level(log πold - log πrollout))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio, max_log_ratio: as in `truncated`.
      max_token_log_ratio, unknown: as in `truncated`.

    With `sequence_mean_level` the ratio is a geometric mean.

    Returns:
      (P, G, T) of 0 and 1.

    Raises:
      ValueError: if the bounds are out of order.

    The filter in OpenRLHF's "seq-mask-tis"; MIS in a book chapter on GRPO (2026, not public), sec. 7.5.7.
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
    """Give weight 0 to completions with A < 0 from which the policy has already moved away.

        w = 0 where A < 0 and mean over the completion of (log πrollout - log πθ) > threshold,    else 1

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      threshold: in nats per token; TRL's off_policy_mask_threshold, None there by default.
      unknown: a token's log πrollout - log πθ if the sampler reported NaN. 0, as in TRL, means that the
        policy has not moved.

    Returns:
      (P, G, T) of 0 and 1.

    DeepSeek-V3.2 (arXiv:2512.02556); TRL `get_off_policy_mask`.
    """
    xp = array_namespace(log_probs, rollout_log_probs, advantages, mask)
    difference = rollout_log_probs - log_probs
    difference = xp.where(xp.isnan(difference), unknown, difference)
    mean_difference = masked_mean(difference, mask, axis=TOKENS, keepdims=True)
    keep = (advantages >= 0.0) | (mean_difference <= threshold)
    return xp.astype(keep, log_probs.dtype)


def top_entropy(entropies: Array, mask: Array, *, share: float = 0.2) -> Array:
    """Keep only the tokens with the highest entropy.

        w = [H >= the (1 - share) quantile of the batch's token entropies]

    Args:
      entropies: (P, G, T) entropy of the current policy at each token, in nats.
      mask: (P, G, T) 1 on completion tokens.
      share: share of the tokens that are kept, 0 < share <= 1; 0.2 in the paper. TRL calls it
        top_entropy_quantile; its default there is 1.0.

    Returns:
      (P, G, T) of 0 and 1. The denominators of the aggregation do not change, as in TRL.

    Raises:
      ValueError: if share is out of range.

    Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939); TRL `get_high_entropy_mask`.
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share: expected 0 < share <= 1, got {share}")
    threshold = _quantile(entropies, mask, 1.0 - share)
    return array_namespace(entropies).astype((entropies >= threshold) & is_set(mask), entropies.dtype)


def early_stop(log_ratio: Array, mask: Array, *, max_ratio: float = 5.0) -> Array:
    """Give weight 0 to a whole batch if its mean importance ratio is too high.

        w = [mean(r) <= max_ratio],   r = exp(log_ratio), mean over the tokens of the batch

    Args:
      log_ratio: (P, G, T) after the level, in nats.
      mask: (P, G, T) 1 on completion tokens.
      max_ratio: > 0; RLinf's early_stop_imp_ratio is 5.0. There is no lower bound.

    Returns:
      (P, G, T), for each run all 0 or all 1.

    RLinf's Megatron actor. RLinf drops only the current micro-batch, and drops its penalty as well. Here the
    penalty stays; to drop it too, see `unless_stopped` in `grpo_ref.explain.dialects.rlinf.kernels`.
    """
    xp = array_namespace(log_ratio, mask)
    mean = masked_mean(xp.exp(log_ratio), mask, axis=BATCH, keepdims=True)
    return xp.astype(mean <= max_ratio, log_ratio.dtype) + xp.zeros_like(log_ratio)


def unlikely_under_reference(ref_log_probs: Array) -> Array:
    """Weight tokens by 1 - πref, so that tokens which the reference finds likely have less weight.

        w = 1 - πref(t)

    A book chapter (below) calls this Dr. GRPO. The Dr. GRPO paper has no such weights: it removes the std and
    the length, see `group_centered` and `fixed_length`.

    Args:
      ref_log_probs: (P, G, T) in nats.

    Returns:
      (P, G, T) weights between 0 and 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.4, under the name Dr. GRPO; see
    `grpo_ref.recipes.chapter`.
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
    per_token = where_mask(mask, old_log_probs - rollout_log_probs)
    per_token = xp.where(xp.isnan(per_token), unknown, per_token)
    log_ratio = level(xp.clip(per_token, -max_token_log_ratio, max_token_log_ratio), mask)
    return xp.exp(xp.clip(log_ratio, -max_log_ratio, max_log_ratio))


def _quantile(values: Array, mask: Array, q: float) -> Array:
    """Return the q-quantile of the values with mask 1, for each run, (..., 1, 1, 1); 0 if there is none."""
    # As in torch.quantile, with linear interpolation; a position within rounding error of an integer is
    # rounded to it. For example, (1 - 0.7) · 10 is 3.0000000000000004.
    xp = array_namespace(values, mask)
    present = is_set(mask)
    flat = xp.reshape(xp.where(present, values, xp.inf), (*values.shape[:-3], -1))
    ordered = xp.sort(flat, axis=-1)
    count = xp.sum(xp.astype(present, xp.float64), axis=BATCH)[..., None]
    last = xp.clip(count - 1.0, 0.0, None)
    position = q * last
    nearest = xp.floor(position + 0.5)
    position = xp.where(abs(position - nearest) <= ROUNDING * count, nearest, position)
    lower = xp.floor(position)
    upper = xp.clip(lower + 1.0, None, last)
    low, high = (
        xp.where(count > 0.0, xp.take_along_axis(ordered, xp.astype(index, xp.int64), axis=-1), 0.0)
        for index in (lower, upper)
    )
    fraction = xp.astype(position - lower, values.dtype)
    return (low + fraction * (high - low))[..., None, None]


def _inside(ratio: Array, min_ratio: float, max_ratio: float) -> Array:
    return (ratio >= min_ratio) & (ratio <= max_ratio)


def _check(min_ratio: float, max_ratio: float) -> None:
    if not 0.0 <= min_ratio <= max_ratio:
        raise ValueError(f"expected 0 <= min_ratio <= max_ratio, got {min_ratio} and {max_ratio}")
