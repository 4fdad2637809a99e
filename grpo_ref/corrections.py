"""Corrections: constant weights on the surrogate of each token; the penalty is not weighted.

The sampler and the learner are different programs and may use different precisions, so they compute different
log-probabilities of the same token. Weighting by the ratio ρ = πold / πrollout makes up for the difference on
average; `truncated` and `masked` limit ρ to avoid very large weights. Other corrections drop tokens: those
whose ρ is outside bounds (`indicator`, `without_outliers`, `rejection`), those that are furthest from the
sampler (`second_moment_mask`), those of stale completions (`off_policy_mask`), tokens with a low entropy
(`top_entropy`), or a whole batch (`early_stop`). docs/mismatch.md says what each trainer calls them.

Every kernel (a plain function that a recipe uses as a part) returns (..., P, G, T) weights. A recipe
multiplies the weights of all its corrections; the product is called c. In the formulas, [condition] is 1 if
the condition is true and 0 otherwise.
"""

import math
from collections.abc import Callable

from grpo_ref.arrays import (
    BATCH,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    batch_sum,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.levels import token_level

ROUNDING = 1e-15
"""Tolerance, per token, for rounding in `position` in `_quantile`."""
SAFE_LOW, SAFE_HIGH = 0.8, 1.0
"""Limits of FIPO's weight on bad tokens that have become much more likely."""
SMALLEST_MEAN = 1e-8
"""A smaller mean of the weights does not divide them, as in verl."""


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
    batch_normalize: bool = False,
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
      batch_normalize: if true, divide the weights by their mean over the batch. Then they change the shares
        of the tokens and not the size of the step. At `token_level` the mean is over tokens, at other levels
        over completions that have tokens. A mean below 1e-8 does not divide. verl's
        rollout_is_batch_normalize, False there by default.

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
    weights = array_namespace(ratio).clip(ratio, min_ratio, max_ratio)
    return _over_mean(weights, mask, level) if batch_normalize else weights


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
    batch_normalize: bool = False,
) -> Array:
    """Masked importance sampling: the ratio where it is within the bounds, 0 elsewhere, as in IcePop.

        w = ρ [min_ratio <= ρ <= max_ratio],   ρ = exp(level(log πold - log πrollout))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio, max_log_ratio: as in `truncated`.
      max_token_log_ratio, unknown, batch_normalize: as in `truncated`. If `unknown` is NaN, the weight is 0
        there. The mean of `batch_normalize` includes the weights of 0.

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
    weights = array_namespace(ratio).where(_inside(ratio, min_ratio, max_ratio), ratio, 0.0)
    return _over_mean(weights, mask, level) if batch_normalize else weights


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

    The level is that of the rejection: `token_level` rejects single tokens. `sequence_sum_level` rejects
    completions by the product of their ratios, and `sequence_mean_level` by the geometric mean, which does
    not depend on the length. `without_outliers` rejects by the largest and smallest ratio.

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


def without_outliers(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    min_ratio: float = 0.0,
    max_ratio: float = math.inf,
    max_log_ratio: float = math.inf,
) -> Array:
    """Give weight 0 to a whole completion if the ratio of a single token is outside the bounds.

        w = [min_ratio <= minₜ ρₜ and maxₜ ρₜ <= max_ratio],   ρₜ = πold / πrollout over the completion

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats. A token for which the sampler reported NaN rejects
        nothing.
      mask: (P, G, T) 1 on completion tokens.
      min_ratio: a lower bound alone is the veto of verl and slime: 1e-4 in slime's example.
      max_ratio: SkyRL's outlier_token_is_threshold_high, None there by default.
      max_log_ratio: each token's log ρ is limited to ± this; 20 in SkyRL.

    Returns:
      (P, G, T) of 0 and 1.

    Raises:
      ValueError: if the bounds are out of order.

    SkyRL `compute_outlier_token_mask`.
    """
    _check(min_ratio, max_ratio)
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    log_ratio = where_mask(mask, old_log_probs - rollout_log_probs)
    ratio = xp.exp(xp.clip(log_ratio, -max_log_ratio, max_log_ratio))
    is_outside = is_set(mask) & ((ratio > max_ratio) | (ratio < min_ratio))
    kept = ~xp.any(is_outside, axis=TOKENS, keepdims=True)
    return xp.astype(kept, ratio.dtype) + xp.zeros_like(ratio)


def rejection(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    estimator: str = "k1",
    over: str = "token",
    low: float = -math.inf,
    high: float = math.inf,
    max_log_ratio: float = math.inf,
) -> Array:
    """Give weight 1 where an estimate of the KL from sampler to learner is within bounds, 0 elsewhere.

        w = [low <= D <= high],   D of v = log πrollout - log πold = -log ρ

    | estimator | D of a token       |
    |-----------|--------------------|
    | `k1`      | v                  |
    | `k2`      | v² / 2             |
    | `k3`      | exp(-v) - 1 + v    |

    With k1 this is `indicator`, with bounds on the logarithm of 1/ρ instead of on ρ.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats. Where D is NaN, the weight is 0.
      mask: (P, G, T) 1 on completion tokens.
      estimator: of the KL, in nats.
      over: "token" for the token's own D; else its sum, mean or maximum over the completion, which rejects
        whole completions.
      low, high: bounds in nats, both included. verl's rollout_rs_threshold has no default; its presets for
        whole completions keep a geometric mean of ρ between 0.999 and 1.001.
      max_log_ratio: v is limited to ± this; 20 in verl.

    Returns:
      (P, G, T) of 0 and 1.

    Raises:
      ValueError: if estimator or over is unknown, or for the maximum of k1, which bounds only the smallest
        ratio of a completion. verl does not have this combination.

    verl `compute_rollout_rejection_mask`: its option "seq_mean_k3" is over="mean" with estimator="k3". There
    rejected tokens leave the mask, so they also leave the denominators.
    """
    if estimator not in ("k1", "k2", "k3"):
        raise ValueError(f"estimator: expected 'k1', 'k2' or 'k3', got {estimator!r}")
    if over not in ("token", "sum", "mean", "max"):
        raise ValueError(f"over: expected 'token', 'sum', 'mean' or 'max', got {over!r}")
    if (estimator, over) == ("k1", "max"):
        raise ValueError("estimator: over='max' needs 'k2' or 'k3', which are not negative, got 'k1'")
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    v = where_mask(mask, rollout_log_probs - old_log_probs)
    v = xp.clip(v, -max_log_ratio, max_log_ratio)
    each = where_mask(mask, {"k1": v, "k2": 0.5 * v**2, "k3": xp.exp(-v) - 1.0 + v}[estimator])
    if over == "mean":
        each = masked_mean(each, mask, axis=TOKENS, keepdims=True)
    elif over != "token":
        each = (xp.sum if over == "sum" else xp.max)(each, axis=TOKENS, keepdims=True)
    return xp.astype((each >= low) & (each <= high), v.dtype) + xp.zeros_like(v)


def second_moment_mask(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    threshold: float = 0.04,
    rescale: bool = False,
) -> Array:
    """Drop the tokens furthest from the sampler until the mean square of the others is small: M2PO.

        w = 1 on the k tokens with the smallest (log ρ)², 0 on the other n - k,   ρ = πold / πrollout

    k is the largest number for which the mean of the kept squares is below the threshold, and at least 1.
    Squares do not cancel, as log-ratios of both signs do in an average.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; a token for which the sampler reported NaN is
        dropped first.
      mask: (P, G, T) 1 on completion tokens. The n tokens are those of the batch; AReaL takes each
        micro-batch on its own.
      threshold: in nats², > 0; 0.04 in the paper and in AReaL's example. AReaL's m2_threshold is None by
        default.
      rescale: if true, w is n/k instead of 1, so that `token_mean` divides by the kept tokens, as in AReaL.
        The paper divides by all tokens.

    Returns:
      (P, G, T) weights.

    Raises:
      ValueError: if the threshold is not positive.

    Zheng et al. 2025, Prosperity before collapse (arXiv:2510.01161); AReaL `_apply_m2po_masking`.
    """
    if not threshold > 0.0:
        raise ValueError(f"threshold: expected a number > 0, got {threshold}")
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    square = where_mask(mask, old_log_probs - rollout_log_probs) ** 2
    square = xp.where(xp.isnan(square), xp.inf, square)

    # Sort the squares of the batch from large to small; padding, as -1, comes last.
    flat = xp.reshape(xp.where(is_set(mask), square, -1.0), (*square.shape[:-3], -1))
    order = xp.argsort(-flat, axis=-1, stable=True)
    falling = xp.take_along_axis(flat, order, axis=-1)

    # The mean of each square with all smaller ones. The first place where this mean is small begins what is
    # kept; if there is none, the last token is kept.
    count = xp.sum(xp.astype(falling >= 0.0, square.dtype), axis=-1, keepdims=True)
    place = xp.arange(falling.shape[-1], dtype=square.dtype)
    sums = xp.flip(xp.cumulative_sum(xp.flip(at_least(falling, 0.0), axis=-1), axis=-1), axis=-1)
    is_small = (sums / at_least(count - place, 1.0) < threshold) & (place < count)
    first = xp.min(xp.where(is_small, place, count - 1.0), axis=-1, keepdims=True)

    # Back to the order of the tokens.
    kept = xp.take_along_axis(place >= first, xp.argsort(order, axis=-1, stable=True), axis=-1)
    weights = xp.astype(xp.reshape(kept, mask.shape) & is_set(mask), square.dtype)
    if not rescale:
        return weights
    total = batch_sum(as_floating(mask), keepdims=True)
    return weights * (total / at_least(batch_sum(weights, keepdims=True), 1.0))


def prefix_ratio(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    minimum: bool = False,
    max_ratio: float = math.inf,
    max_log_ratio: float = math.inf,
) -> Array:
    """Weight each token by the ratio of the completion up to this token, limited from above.

        product:  wₜ = min(Π_{s <= t} ρₛ, max_ratio),         ρ = πold / πrollout
        minimum:  wₜ = min(ρₜ min_{s < t} ρₛ, max_ratio),     the first token has its own ρ

    The sampler chose the tokens before t as well as the token itself. So the product is the unbiased weight
    of the gradient of token t, as long as its advantage does not depend on later tokens. The reward of the
    whole completion does: the sampler wrote the rest of it, too, and a bias is left. The variance of the
    product is smaller than that of `sequence_sum_level`, but it still grows with t. MinPRO replaces the
    product over the tokens before t by the smallest of their ratios. In both papers ρ is πθ / πold, in the
    place of the surrogate's ratio. CTPO clips it at bounds that widen with √t.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens; tokens with mask 0 have no part in the products.
      minimum: if true, the form of MinPRO, else that of CTPO.
      max_ratio: upper bound, >= 0. Neither paper weights by the sampler's mismatch, so we give no
        default.
      max_log_ratio: each token's log ρ is limited to ± this before it is summed; 20 in CTPO's code.

    Returns:
      (P, G, T) weights.

    Raises:
      ValueError: if max_ratio is negative.

    Zhang et al. 2026, CTPO (arXiv:2605.07331); Lei et al. 2026, MinPRO (arXiv:2601.22718).
    """
    _check(0.0, max_ratio)
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    log_ratio = where_mask(mask, old_log_probs - rollout_log_probs)
    log_ratio = xp.clip(log_ratio, -max_log_ratio, max_log_ratio)
    if minimum:
        so_far, smallest = [], xp.full_like(log_ratio[..., 0], math.inf)
        for t in range(mask.shape[TOKENS]):  # no array library but NumPy has a running minimum
            present = is_set(mask[..., t])
            before = xp.where(xp.isinf(smallest), 0.0, smallest)
            so_far.append(log_ratio[..., t] + before)
            smallest = xp.where(present & (log_ratio[..., t] < smallest), log_ratio[..., t], smallest)
        log_weight = xp.stack(so_far, axis=TOKENS)
    else:
        log_weight = xp.cumulative_sum(log_ratio, axis=TOKENS)
    return xp.clip(xp.exp(log_weight), 0.0, max_ratio)


def future_kl(
    log_probs: Array,
    old_log_probs: Array,
    log_ratio: Array,
    advantages: Array,
    mask: Array,
    *,
    half_life: float = 32.0,
    width: float | None = 0.2,
    high_only: bool = True,
    max_ratio: float = math.inf,
    safe_ratio: float = 4.0,
) -> Array:
    """Weight a token by the change in probability of the tokens after it: FIPO.

        w = clip(exp Σₛ 2^(-(s - t)/half_life) log rₛ, 1 - width, 1 + width),    s the tokens from t on

    Args:
      log_probs, old_log_probs: (P, G, T) in nats.
      log_ratio: (P, G, T) their difference after the level, in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens. A hole counts as a place.
      half_life: distance in tokens at which a later token counts half; ms-swift's fipo_decay_rate, 32 there.
      width: half-width of the range of w; None or 0 for no clip. ms-swift's fipo_clip_range, 0.2 there.
      high_only: if true, the lower bound is 1; ms-swift's fipo_clip_high_only, true there.
      max_ratio: tokens with a larger ratio are excluded from the sum; ms-swift's delta, None by default.
      safe_ratio: for a bad token with a larger ratio, w is limited to [0.8, 1]. ms-swift's
        fipo_safety_threshold, 4 there.

    Returns:
      (P, G, T) weights, all 1 in the first step of an update. No gradient flows through them.

    FIPO, Future-KL influenced policy optimization (arXiv:2603.19835); ms-swift `loss_type="fipo"`.
    """
    xp = array_namespace(log_probs, mask)
    ratio = xp.exp(log_ratio)
    moved = where_mask(mask, xp.where(ratio > max_ratio, 0.0, log_probs - old_log_probs))
    places = xp.astype(xp.arange(mask.shape[TOKENS]), moved.dtype)
    ahead = places[:, None] - places[None, :]
    decay = xp.where(ahead >= 0.0, 2.0 ** (-at_least(ahead, 0.0) / half_life), 0.0)
    weight = xp.exp(where_mask(mask, xp.matmul(moved, xp.astype(decay, moved.dtype))))
    if width:
        weight = xp.clip(weight, 1.0 if high_only else 1.0 - width, 1.0 + width)
    hurried = (advantages < 0.0) & (ratio > safe_ratio)
    return xp.where(hurried, xp.clip(weight, SAFE_LOW, SAFE_HIGH), weight)


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
      advantages: broadcastable to (P, G, T); for each token, its own advantage counts.
      mask: (P, G, T) 1 on completion tokens.
      threshold: in nats per token; TRL's off_policy_mask_threshold and ms-swift's
        off_policy_sequence_mask_delta, None in both by default.
      unknown: a token's log πrollout - log πθ if the sampler reported NaN. 0, as in TRL, means that the
        policy has not moved. With NaN the completion is dropped, as in TRL before 1.11. With -inf it is kept,
        as in ms-swift.

    Returns:
      (P, G, T) of 0 and 1.

    DeepSeek-V3.2 (arXiv:2512.02556); TRL `get_off_policy_mask`, ms-swift `_compute_off_policy_sequence_mask`.
    """
    xp = array_namespace(log_probs, rollout_log_probs, advantages, mask)
    difference = rollout_log_probs - log_probs
    difference = xp.where(xp.isnan(difference), unknown, difference)
    mean_difference = masked_mean(difference, mask, axis=TOKENS, keepdims=True)
    keep = (advantages >= 0.0) | (mean_difference <= threshold)
    return xp.astype(keep, log_probs.dtype) + xp.zeros_like(log_probs)


def off_policy_mask_since_update(
    log_probs: Array, old_log_probs: Array, advantages: Array, mask: Array, *, threshold: float = 1e-4
) -> Array:
    """Compute `off_policy_mask` with the learner's old log-probabilities in place of the sampler's.

        w = 0 where A < 0 and mean over the completion of (log πold - log πθ) > threshold,    else 1

    It sees how far the policy has moved during the update, and not the mismatch of sampler and learner.

    Args:
      log_probs, old_log_probs: (P, G, T) in nats.
      advantages, mask: as in `off_policy_mask`.
      threshold: in nats per token; slime's opsm_delta is 1e-4.

    Returns:
      (P, G, T) of 0 and 1; all 1 in the first step of an update.

    slime `compute_opsm_mask`; TRL 0.27.0 `get_off_policy_mask`.
    """
    return off_policy_mask(log_probs, old_log_probs, advantages, mask, threshold=threshold)


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

    A part of a textbook form, `book_dr_grpo`. The Dr. GRPO paper has no such weights: it removes the std and
    the length, see `group_centered` and `fixed_length`.

    Args:
      ref_log_probs: (P, G, T) in nats.

    Returns:
      (P, G, T) weights between 0 and 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.4, under the name Dr. GRPO; see
    `grpo_ref.recipes.textbook`.
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


def _over_mean(weights: Array, mask: Array, level: Callable[[Array, Array], Array]) -> Array:
    """Divide the weights by their mean over the tokens, or over the completions if each has one weight."""
    if level is token_level:
        mean = masked_mean(weights, mask, axis=BATCH, keepdims=True)
    else:
        each = masked_mean(weights, mask, axis=TOKENS, keepdims=True)
        xp = array_namespace(weights, mask)
        has_tokens = xp.any(is_set(mask), axis=TOKENS, keepdims=True)
        mean = masked_mean(each, xp.astype(has_tokens, weights.dtype), axis=BATCH, keepdims=True)
    return weights / array_namespace(mean).where(mean > SMALLEST_MEAN, mean, 1.0)


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
