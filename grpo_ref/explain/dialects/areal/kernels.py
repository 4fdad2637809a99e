"""Kernels of AReaL: rewards and advantages that are normalized twice, and filters by the sampler's staleness."""

from grpo_ref.arrays import (
    BATCH,
    GROUP,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.corrections import second_moment_mask
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

AXES = {"batch": BATCH, "group": (GROUP, TOKENS)}
"""The axes over which a normalization of (..., P, G, T) arrays sums."""


# ---- rewards ------------------------------------------------------------------------------------------


def rescaled(
    rewards: Array,
    lengths: Array,
    *,
    bias: float = 0.0,
    scale: float = 1.0,
    limit: float = 20.0,
    tail: int | None = None,
    factor: float | None = None,
    budget: int = 1024,
) -> Array:
    """Penalize the reward for its length, then shift, scale and limit it, in this order.

        clip((r + min(0, factor (budget - tail - |o|)/tail) + bias) scale, -limit, limit)

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion.
      bias, scale, limit: reward_bias, reward_scaling and reward_clip.
      tail: overlong_tokens, the last part of the budget; None for no penalty.
      factor: overlong_penalty_factor. A completion beyond the budget loses more than this.
      budget: the actor's max_new_tokens, not the sampler's.

    Returns:
      (P, G) rewards.

    AReaL `_compute_advantages` and `reward_overlong_penalty`.
    """
    xp = array_namespace(rewards, lengths)
    if tail is not None and factor is not None:
        exceeding = xp.astype(lengths, rewards.dtype) - (budget - tail)
        rewards = rewards + xp.clip(-exceeding / tail * factor, None, 0.0)
    return xp.clip((rewards + bias) * scale, -limit, limit)


# ---- normalization ------------------------------------------------------------------------------------


def normalized(
    rewards: Array,
    *,
    mean_level: str | None = "batch",
    std_level: str | None = "batch",
    leave_one_out: bool = False,
    ddof: int = 1,
    eps: float = 1e-5,
) -> Array:
    """Subtract a mean from the rewards and divide by the spread around it.

    Each is of the group, the batch, or none.

        A = (r - m) / (√(Σ (r - m)² / (n - ddof)) + eps)

    Args:
      rewards: (P, G), one row per prompt.
      mean_level, std_level: over what the mean m and the sum are taken, "batch", "group" or None.
      leave_one_out: whether the mean is that of all others.
      ddof: 1 with std_unbiased, else 0.
      eps: added to the spread, if there is one.

    Returns:
      (P, G) advantages; 0 for a group of one with a mean of the group.

    AReaL `Normalization`, reward_norm.
    """
    mask = array_namespace(rewards).ones_like(rewards)
    found = _normalized(
        rewards[..., None],
        mask[..., None],
        mean_level=mean_level,
        std_level=std_level,
        leave_one_out=leave_one_out,
        ddof=ddof,
        eps=eps,
    )
    return found[..., 0]


def _normalized(
    values: Array,
    mask: Array,
    *,
    mean_level: str | None,
    std_level: str | None,
    leave_one_out: bool,
    ddof: int,
    eps: float,
) -> Array:
    """Normalize (..., P, G, T) values over the tokens of the mask, like `normalized`.

    Other tokens become 0.
    """
    mask, alone = as_floating(mask), values.shape[GROUP] == 1
    mean = _mean(values, mask, mean_level, leave_one_out)
    centered = (values - mean) * mask
    if std_level is None:
        return centered
    if std_level == "group" and alone and ddof == 1:
        return centered / (1.0 + eps)
    xp = array_namespace(values, mask)
    count, total = (xp.sum(each, axis=AXES[std_level], keepdims=True) for each in (mask, centered**2))
    spread = xp.where(count > ddof, (total / at_least(count - ddof, 1.0)) ** 0.5, 1.0)
    return centered / (spread + eps)


def _mean(values: Array, mask: Array, level: str | None, leave_one_out: bool) -> Array:
    """Return the mean to subtract.

    A completion alone in its group is its own mean if the mean of the others is used.
    """
    xp = array_namespace(values, mask)
    if level is None:
        return xp.zeros_like(values)
    if level == "group" and leave_one_out and values.shape[GROUP] == 1:
        return values
    count, total = (xp.sum(each, axis=AXES[level], keepdims=True) for each in (mask, values * mask))
    if not leave_one_out:
        return total / at_least(count, 1.0) + xp.zeros_like(values)
    others = (total - values * mask) / at_least(count - mask, 1.0)
    return xp.where(count > 1.0, others, 0.0)


# ---- advantages ---------------------------------------------------------------------------------------


def returned(
    rewards: Array, mask: Array, *, scores: Slot, decay: float = 1.0, norm: Slot | None = None
) -> Array:
    """Put the reward at the last token and decay it backwards.

    The tokens of the batch may then be normalized.

        Gₜ = decay^(tokens after t) scores(r)

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      scores: what reward_norm makes of the rewards, (P, G) -> (P, G).
      decay: discount times gae_lambda, per token that counts; there is no critic.
      norm: `normalized` over tokens, adv_norm.

    Returns:
      (P, G, T), 0 on padding.

    AReaL `_compute_advantages`.
    """
    costs = array_namespace(rewards, mask).zeros_like(mask, dtype=rewards.dtype)
    return _returned(rewards, mask, costs, scores, decay, norm)


def returned_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    decay: float = 1.0,
    norm: Slot | None = None,
) -> Array:
    """Subtract the KL to the reference from each token's reward.

    An advantage sums all rewards from its token on.

        Gₜ = Σₛ₌ₜ decay^(tokens from t to s) (scores(r) [s is the last] - kl_coef penaltyₛ)

    Args:
      rewards, mask, scores, decay, norm: as in `returned`.
      old_log_probs, ref_log_probs: (P, G, T) that the ratio is taken to, and of the reference.
      penalty: the estimate of the KL.
      kl_coef: kl_ctl.

    Returns:
      (P, G, T), 0 on padding.
    """
    costs = _costs(mask, old_log_probs, ref_log_probs, penalty, kl_coef)
    return _returned(rewards, mask, costs, scores, decay, norm)


def returned_with_samplers_penalty(
    rewards: Array,
    mask: Array,
    rollout_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    decay: float = 1.0,
    norm: Slot | None = None,
) -> Array:
    """Compute `returned_with_penalty` with the sampler's log-probabilities, as with use_decoupled_loss."""
    costs = _costs(mask, rollout_log_probs, ref_log_probs, penalty, kl_coef)
    return _returned(rewards, mask, costs, scores, decay, norm)


def returned_without_reference(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    decay: float = 1.0,
    norm: Slot | None = None,
) -> Array:
    """Compute `returned_with_penalty` for a missing reference, whose log-probabilities count as 0."""
    xp = array_namespace(old_log_probs)
    costs = _costs(mask, old_log_probs, xp.zeros_like(old_log_probs), penalty, kl_coef)
    return _returned(rewards, mask, costs, scores, decay, norm)


def returned_without_reference_of_sampler(
    rewards: Array,
    mask: Array,
    rollout_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    decay: float = 1.0,
    norm: Slot | None = None,
) -> Array:
    """Compute `returned_without_reference` with the sampler's log-probabilities, as with use_decoupled_loss."""
    xp = array_namespace(rollout_log_probs)
    costs = _costs(mask, rollout_log_probs, xp.zeros_like(rollout_log_probs), penalty, kl_coef)
    return _returned(rewards, mask, costs, scores, decay, norm)


def _costs(mask: Array, log_probs: Array, ref_log_probs: Array, penalty: Slot, kl_coef: float) -> Array:
    ours, theirs = where_mask(mask, log_probs), where_mask(mask, ref_log_probs)
    return kl_coef * where_mask(mask, penalty(log_probs=ours, ref_log_probs=theirs).value)


def _returned(
    rewards: Array, mask: Array, costs: Array, scores: Slot, decay: float, norm: Slot | None
) -> Array:
    """Return decayed sums over the tokens that count, from each token on.

    Excluded tokens do not add a step of decay.
    """
    xp = array_namespace(rewards, mask)
    counts = as_floating(mask)
    places = xp.cumulative_sum(counts, axis=TOKENS)
    is_last = (places == places[..., -1:]) & is_set(mask)
    gains = xp.where(is_last, scores(rewards=rewards)[..., None], 0.0) - costs
    apart = places[..., None, :] - places[..., :, None]
    weights = xp.where(apart >= 0.0, decay ** at_least(apart, 0.0), 0.0)
    found = where_mask(mask, xp.sum(weights * gains[..., None, :], axis=-1))
    return found if norm is None else _normalized(found, counts, **norm.settings)


# ---- what the sampler's staleness leaves out ----------------------------------------------------------


def rejected(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    metric: str = "ratio",
    level: str = "token",
    agg: str = "mean",
    action: str = "mask",
    lower: float | None = None,
    upper: float = 5.0,
) -> Array:
    """Return the ratio to the sampler where a measure of it is inside a window; elsewhere the ratio is limited or 0.

        w = c [lower <= d <= upper],   c = exp(log πold - log πrollout),   d = c, k1, k2 or k3

    Per completion, d is aggregated over its tokens; the ratio is aggregated as a logarithm. Then c is the
    geometric mean if d is the ratio, and each token's own ratio if d is a KL. Only weights outside the window
    are limited.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; NaN where the sampler reported nothing.
      mask: (P, G, T) 1 on completion tokens.
      metric, level, agg, action, lower, upper: keys of rejection_sampling.

    Returns:
      (P, G, T) weights.

    AReaL `apply_rejection_sampling`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    apart = where_mask(mask, old_log_probs - rollout_log_probs)
    known = xp.where(xp.isfinite(apart), apart, 0.0)
    measure = known if metric == "ratio" else _kl(apart, metric)
    weight = known
    if level == "sequence":
        weight = masked_mean(known, mask, axis=TOKENS, keepdims=True) if metric == "ratio" else known
        measure = _aggregated(measure, mask, agg)
    measure, weight = (xp.exp(measure) if metric == "ratio" else measure), xp.exp(weight)
    inside = (measure <= upper) & ((measure >= lower) if lower is not None else (measure == measure))
    outside = 0.0 if action == "mask" else xp.clip(weight, 0.0 if lower is None else lower, upper)
    return xp.where(inside, weight, outside) + xp.zeros_like(apart)


def _kl(log_ratio: Array, metric: str) -> Array:
    """Return an estimate of the KL from the sampler, given log πold - log πrollout."""
    if metric == "kl_k1":
        return log_ratio
    if metric == "kl_k2":
        return 0.5 * log_ratio**2
    return array_namespace(log_ratio).expm1(-log_ratio) + log_ratio


def _aggregated(measure: Array, mask: Array, agg: str) -> Array:
    """Aggregate a measure over the tokens of a completion, (P, G, 1); 0 without tokens."""
    xp = array_namespace(measure, mask)
    if agg == "max":
        largest = xp.max(xp.where(is_set(mask), measure, -xp.inf), axis=TOKENS, keepdims=True)
        return xp.where(xp.any(is_set(mask), axis=TOKENS, keepdims=True), largest, 0.0)
    total = xp.sum(measure, axis=TOKENS, keepdims=True)
    return total if agg == "sum" else masked_mean(measure, mask, axis=TOKENS, keepdims=True)


def second_moment_mask_then(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, threshold: float, then: Slot
) -> Array:
    """Compute `second_moment_mask` as AReaL rescales it, and apply a filter to the tokens that it keeps.

    Args:
      old_log_probs, rollout_log_probs, mask: as in `rejected`.
      threshold: m2_threshold, > 0.
      then: the filter of rejection_sampling, which sees the remaining tokens.

    Returns:
      (P, G, T) weights.

    AReaL `grpo_loss_fn`, which masks before `ppo_actor_loss_fn` filters.
    """
    weights = second_moment_mask(old_log_probs, rollout_log_probs, mask, threshold=threshold, rescale=True)
    left = array_namespace(weights).astype(weights != 0.0, weights.dtype)
    fields = {"old_log_probs": old_log_probs, "rollout_log_probs": rollout_log_probs, "mask": left}
    return where_mask(left, then(**fields)) * weights


def of_learner(log_probs: Array, rollout_log_probs: Array, mask: Array, *, then: Slot) -> Array:
    """Compare the policy being trained, held constant, with the sampler (reuse_train_logp).

    w = then(πθ in place of πold)
    """
    fields = {"old_log_probs": log_probs, "rollout_log_probs": rollout_log_probs, "mask": mask}
    weights: Array = then(**fields)
    return weights


def of_learner_since(log_probs: Array, old_log_probs: Array, mask: Array, *, then: Slot) -> Array:
    """Compute `of_learner` without use_decoupled_loss, where the old log-probabilities are the sampler's."""
    return of_learner(log_probs, old_log_probs, mask, then=then)


def of_one_weight(old_log_probs: Array, *, weight: float) -> Array:
    """Give every token the same weight, as without use_decoupled_loss; 0 if the filter rejects a ratio of 1.

    w = weight
    """
    return array_namespace(old_log_probs).full_like(old_log_probs, weight)


# ---- ratios of completions ----------------------------------------------------------------------------


def of_mean_advantage(log_ratio: Array, advantages: Array, mask: Array, *, surrogate: Slot) -> Term:
    """Average the advantages over a completion's tokens, as the ratio is.

        s = surrogate(z, mean A)

    Args:
      log_ratio: (P, G, T) after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.
      surrogate: of the ratio and the advantage.

    Returns:
      Term of (P, G, T) arrays: s, and its slope in z.

    AReaL `_compute_sequence_level_ratio_and_advantages`.
    """
    mean = masked_mean(advantages, mask, axis=TOKENS, keepdims=True)
    term: Term = surrogate(log_ratio=log_ratio, advantages=mean + array_namespace(mean).zeros_like(log_ratio))
    return term


def of_what_is_kept(
    log_ratio: Array, advantages: Array, mask: Array, correction: Array, *, surrogate: Slot
) -> Term:
    """Average ratio and advantage of a completion over the tokens that the filters keep.

        s = w surrogate(z, mean A),   z = mean of log rₜ,   both means over the tokens of w ≠ 0

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      advantages, mask, surrogate: as in `of_mean_advantage`.
      correction: (P, G, T) w, the product of the corrections.

    Returns:
      Term of (P, G, T) arrays: s, and the slope of a completion's sum in each token's log-ratio.

    AReaL `ppo_actor_loss_fn` with importance_sampling_level="sequence" and a filter of single tokens.
    """
    xp = array_namespace(log_ratio, correction)
    kept = as_floating(mask) * xp.astype(correction != 0.0, log_ratio.dtype)
    mean, ratio = (masked_mean(each, kept, axis=TOKENS, keepdims=True) for each in (advantages, log_ratio))
    ones = xp.zeros_like(log_ratio)
    term = surrogate(log_ratio=ratio + ones, advantages=mean + ones)
    weights = where_mask(kept, correction)
    slopes = xp.sum(weights * term.slope, axis=TOKENS, keepdims=True)
    share = kept / at_least(xp.sum(kept, axis=TOKENS, keepdims=True), 1.0)
    return Term(value=where_mask(kept, weights * term.value), slope=slopes * share)


def at_ratio_one(
    log_ratio: Array, log_probs: Array, advantages: Array, mask: Array, *, surrogate: Slot
) -> Term:
    """Take the ratio to the policy being trained (reuse_train_logp): it is 1, but its slope is not 0.

        s = surrogate(log r = 0, A)

    Args:
      log_ratio, log_probs, advantages, mask: (P, G, T) as the surrogate reads them; of the first only the shape
        counts.
      surrogate: of the ratio and the advantage.

    Returns:
      Term of (P, G, T) arrays.

    AReaL `grpo_loss_fn`.
    """
    fields = {"log_probs": log_probs, "advantages": advantages, "mask": mask}
    term: Term = surrogate(log_ratio=array_namespace(log_ratio).zeros_like(log_ratio), **fields)
    return term


def at_ratio_one_of_what_is_kept(
    log_ratio: Array, advantages: Array, mask: Array, correction: Array, *, surrogate: Slot
) -> Term:
    """Compute `of_what_is_kept` with ratios of 1."""
    nothing = array_namespace(log_ratio).zeros_like(log_ratio)
    return of_what_is_kept(nothing, advantages, mask, correction, surrogate=surrogate)


# ---- recorded cases -----------------------------------------------------------------------------------
