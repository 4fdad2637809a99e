"""Wrong kernels that are easily mistaken for right ones. Do not train with them.

Each has the signature of the kernel for which it is mistaken, so that replacing one part of a recipe gives a
wrong recipe. Summaries describe the mistake.
"""

from types import SimpleNamespace

from grpo_ref.arrays import BATCH, TOKENS, Array, array_namespace, as_floating, at_least, where_mask
from grpo_ref.penalties import k3
from grpo_ref.recipes import Slot
from grpo_ref.surrogates import clipped
from grpo_ref.types import Term

# ---- surrogates ----------------------------------------------------------------------------------


def inverted(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """Invert the ratio: the clipped surrogate of πold / πθ.

    Args:
      log_ratio: (..., P, G, T) log πθ - log πold, in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    term = clipped(-log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    return Term(value=term.value, slope=-term.slope)


def clip_without_min(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Forget the minimum: a token that has moved the wrong way beyond the clip has no slope.

        s = clip(r, 1 - clip_low, 1 + clip_high) A

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    inside = (ratio > 1.0 - clip_low) & (ratio < 1.0 + clip_high)
    bound = xp.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantages
    return Term(value=bound, slope=xp.where(inside, bound, 0.0))


def optimistic(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """Take the larger of the two products: only tokens that have moved the wrong way are clipped.

        s = max(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    free = xp.exp(log_ratio) * advantages
    bound = xp.clip(xp.exp(log_ratio), 1.0 - clip_low, 1.0 + clip_high) * advantages
    return Term(value=xp.maximum(free, bound), slope=xp.where(free >= bound, free, 0.0))


def clip_of_log_ratio(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    center: float = 0.0,
    exp_free: bool = True,
    exp_bound: bool = True,
) -> Term:
    """Clip the log-ratio instead of the ratio, or forget the exponential.

        s = min(f A, b A),    f = r or log r,    b = eᶜ or c,    c = clip(log r, center - low, center + high)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
      center: 0, or 1 if the bounds of the ratio are used for the log-ratio unchanged.
      exp_free, exp_bound: true if f and b are exponentials.
    """
    xp = array_namespace(log_ratio, advantages)
    low, high = center - clip_low, center + clip_high
    clipped_log_ratio = xp.clip(log_ratio, low, high)
    free = xp.exp(log_ratio) if exp_free else log_ratio
    bound = xp.exp(clipped_log_ratio) if exp_bound else clipped_log_ratio
    inside = (log_ratio > low) & (log_ratio < high)
    free_slope = free if exp_free else xp.ones_like(free)
    bound_slope = xp.where(inside, bound if exp_bound else 1.0, 0.0)
    takes_free = free * advantages <= bound * advantages
    return Term(
        value=xp.where(takes_free, free, bound) * advantages,
        slope=xp.where(takes_free, free_slope, bound_slope) * advantages,
    )


def clipped_log_ratio(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Clip the log-ratio and forget the minimum.

        s = exp(clip(log r, -clip_low, clip_high)) A

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    value = xp.exp(xp.clip(log_ratio, -clip_low, clip_high)) * advantages
    inside = (log_ratio > -clip_low) & (log_ratio < clip_high)
    return Term(value=value, slope=xp.where(inside, value, 0.0))


def exchanged_bounds(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Exchange the bounds of the clip: NumPy and PyTorch then return the lower bound for every ratio.

        s = min(r A, (1 - clip_low) A)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    free, bound = xp.exp(log_ratio) * advantages, (1.0 - clip_low) * advantages
    return Term(value=xp.minimum(free, bound), slope=xp.where(free <= bound, free, 0.0))


def min_of_means(
    log_ratio: Array,
    advantages: Array,
    mask: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    over_batch: bool = False,
) -> Term:
    """Take the minimum after the average, in place of the minimum of each token.

        s = r A for all tokens if Σ r A <= Σ c A, and c A for all tokens otherwise,    c = clip(r)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      mask: (..., P, G, T) 1 on completion tokens.
      clip_low, clip_high: as in `clipped`.
      over_batch: true if the sums are over all tokens of the batch, false if over those of a completion.
    """
    xp = array_namespace(log_ratio, advantages)
    free = xp.exp(log_ratio) * advantages
    term = clip_without_min(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    axis = BATCH if over_batch else TOKENS
    sums = (xp.sum(where_mask(mask, x), axis=axis, keepdims=True) for x in (free, term.value))
    takes_free = next(sums) <= next(sums)
    return Term(value=xp.where(takes_free, free, term.value), slope=xp.where(takes_free, free, term.slope))


def floored(log_ratio: Array, advantages: Array, *, part: Slot, max_ratio: float) -> Term:
    """Put the dual clip around a wrong surrogate.

        s = max(s', max_ratio A) where A < 0,    s' elsewhere

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      part: the surrogate s', which reads log_ratio and advantages.
      max_ratio: as in `dual_clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    term = part(log_ratio=log_ratio, advantages=advantages)
    holds = (advantages < 0.0) & (term.value < max_ratio * advantages)
    value = xp.where(holds, max_ratio * advantages, term.value)
    return Term(value=value, slope=xp.where(holds, 0.0, term.slope))


def constant_ratio(log_ratio: Array, advantages: Array) -> Term:
    """Compute the ratio of the policy to itself and forget the detach: 1, with zero gradient.

        s = A

    Args:
      log_ratio: (..., P, G, T) in nats; only its shape is used.
      advantages: broadcastable to it.
    """
    return Term(value=advantages + 0.0 * log_ratio)


def detached_surrogate(
    log_ratio: Array,
    log_probs: Array,
    old_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    part: Slot,
) -> Term:
    """Detach the whole surrogate: its value is right, its slope is zero.

    Args:
      log_ratio, log_probs, old_log_probs, rollout_log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to them.
      mask: (..., P, G, T) 1 on completion tokens.
      part: the surrogate.
    """
    record = SimpleNamespace(**{key: value for key, value in locals().items() if key != "part"})
    return Term(value=part(record).value)


def min_of_ratios(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Take the minimum of the two ratios, before the advantage multiplies them.

        s = min(r, clip(r, 1 - clip_low, 1 + clip_high)) A = min(r, 1 + clip_high) A

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    value = xp.clip(ratio, None, 1.0 + clip_high) * advantages
    return Term(value=value, slope=xp.where(ratio < 1.0 + clip_high, value, 0.0))


def max_of_ratios(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Take the maximum of the two ratios, before the advantage multiplies them.

        s = max(r, clip(r, 1 - clip_low, 1 + clip_high)) A = max(r, 1 - clip_low) A

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    value = xp.clip(ratio, 1.0 - clip_low, None) * advantages
    return Term(value=value, slope=xp.where(ratio > 1.0 - clip_low, value, 0.0))


def ratio_minus_one(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Subtract 1 from the ratio: the gradient is right, the value is smaller by the advantage.

        s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A) - A

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    term = clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    return Term(value=term.value - advantages, slope=term.slope)


def slope_inside_only(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Set the slope to 0 outside the clip, on both sides: the value is right.

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    term = clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    ratio = xp.exp(log_ratio)
    inside = (ratio >= 1.0 - clip_low) & (ratio <= 1.0 + clip_high)
    return Term(value=term.value, slope=xp.where(inside, ratio * advantages, 0.0))


def clip_of_product(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Clip the product of ratio and advantage, in place of the ratio.

        s = min(r A, clip(r A, 1 - clip_low, 1 + clip_high)) = min(r A, 1 + clip_high)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    free = xp.exp(log_ratio) * advantages
    value = xp.clip(free, None, 1.0 + clip_high)
    return Term(value=value, slope=xp.where(free < 1.0 + clip_high, free, 0.0))


def advantage_in_one_product(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    in_free: bool = True,
) -> Term:
    """Multiply only one of the two products by the advantage.

        s = min(r A, c), or min(r, c A) if in_free is false,    c = clip(r, 1 - clip_low, 1 + clip_high)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
      in_free: true if the product without the clip has the advantage.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    inside = (ratio > 1.0 - clip_low) & (ratio < 1.0 + clip_high)
    free = ratio * (advantages if in_free else 1.0)
    bound = xp.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * (1.0 if in_free else advantages)
    takes_free = free <= bound
    return Term(
        value=xp.where(takes_free, free, bound),
        slope=xp.where(takes_free, free, xp.where(inside, bound, 0.0)),
    )


def clip_around_zero(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Forget the 1 in the bounds of the clip.

        s = min(r A, clip(r, -clip_low, clip_high) A) = min(r A, min(r, clip_high) A)

    Args:
      log_ratio: (..., P, G, T) in nats.
      advantages: broadcastable to it.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    free, bound = ratio * advantages, xp.clip(ratio, None, clip_high) * advantages
    moves = (free <= bound) | (ratio < clip_high)
    return Term(value=xp.minimum(free, bound), slope=xp.where(moves, free, 0.0))


def clipped_quotient(
    log_probs: Array,
    old_log_probs: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Term:
    """Divide the log-probabilities in place of the probabilities.

        s = min(q A, clip(q, 1 - clip_low, 1 + clip_high) A),    q = log πθ / log πold

    Args:
      log_probs, old_log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to them.
      clip_low, clip_high: as in `clipped`.
    """
    xp = array_namespace(log_probs, advantages)
    divisor = xp.where(old_log_probs != 0.0, old_log_probs, 1.0)
    quotient = log_probs / divisor
    free = quotient * advantages
    bound = xp.clip(quotient, 1.0 - clip_low, 1.0 + clip_high) * advantages
    inside = (quotient > 1.0 - clip_low) & (quotient < 1.0 + clip_high)
    moves = (free <= bound) | inside
    return Term(value=xp.where(free <= bound, free, bound), direct=xp.where(moves, advantages / divisor, 0.0))


def probability_weighted(log_probs: Array, advantages: Array) -> Term:
    """Multiply the advantage by the probability, in place of the ratio or the log-probability.

        s = πθ A

    Args:
      log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to it.
    """
    value = array_namespace(log_probs, advantages).exp(log_probs) * advantages
    return Term(value=value, direct=value)


def penalized_advantages(
    log_ratio: Array,
    log_probs: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    part: Slot,
    penalty: Slot,
    kl_coef: float,
) -> Term:
    """Subtract the penalty from the advantages, in place of adding it to the loss.

        s = surrogate(r, A - kl_coef k),    k constant

    Args:
      log_ratio, log_probs, old_log_probs, ref_log_probs, rollout_log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to them.
      mask: (..., P, G, T) 1 on completion tokens.
      part: the surrogate.
      penalty: the penalty k.
      kl_coef: its weight.
    """
    arguments = {key: value for key, value in locals().items() if key not in ("part", "penalty", "kl_coef")}
    record = SimpleNamespace(**arguments)
    record.advantages = advantages - kl_coef * penalty(record).value
    term: Term = part(record)
    return term


def stale_clipped(log_probs: Array, ref_log_probs: Array, advantages: Array) -> Term:
    """Never recompute the old log-probabilities: the ratio is to the policy at the start of training.

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to them.
    """
    term = clipped(log_probs - ref_log_probs, advantages)
    return Term(value=term.value, direct=term.slope)


# ---- penalties -----------------------------------------------------------------------------------


def swapped_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """Exchange policy and reference in k3.

        k = eᵛ - 1 - v,    v = log πθ - log πref

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    term = k3(ref_log_probs, log_probs)
    return Term(value=term.value, direct=array_namespace(log_probs).expm1(log_probs - ref_log_probs))


def attracting_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """Reverse the sign of k3: the policy is rewarded for leaving the reference.

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    return Term(*(-part for part in k3(log_probs, ref_log_probs)))


def squared_log_ratio(log_probs: Array, ref_log_probs: Array) -> Term:
    """Forget the half in k2.

        k = (log πθ - log πref)²

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    distance = log_probs - ref_log_probs
    return Term(value=distance**2, direct=2.0 * distance)


def incomplete_k3(
    log_probs: Array, ref_log_probs: Array, *, constant: float = -1.0, linear: float = -1.0
) -> Term:
    """Forget a term of k3, or write it with the wrong sign.

        k = eᵛ + linear v + constant,    v = log πref - log πθ

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
      constant, linear: -1 and -1 in k3.
    """
    v = ref_log_probs - log_probs
    ratio = array_namespace(log_probs).exp(v)
    return Term(value=ratio + linear * v + constant, direct=-(ratio + linear))


def reversed_k1(log_probs: Array, ref_log_probs: Array) -> Term:
    """Exchange policy and reference in k1.

        k = log πref - log πθ

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    return Term(value=ref_log_probs - log_probs, direct=-1.0 + 0.0 * log_probs)


def positive_k1(log_probs: Array, ref_log_probs: Array) -> Term:
    """Cut k1 off below 0, so that its mean is no longer the KL.

        k = max(log πθ - log πref, 0)

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    distance = log_probs - ref_log_probs
    xp = array_namespace(distance)
    return Term(value=xp.clip(distance, 0.0, None), direct=xp.where(distance > 0.0, 1.0, 0.0))


def probability_weighted_k1(log_probs: Array, ref_log_probs: Array, *, by_reference: bool = False) -> Term:
    """Use the summand of the exact KL for the sampled token: the sampling weights it a second time.

        k = πθ (log πθ - log πref),    or πref (log πref - log πθ) if by_reference is true

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
      by_reference: true if the reference's probability is the weight.
    """
    xp = array_namespace(log_probs)
    distance = log_probs - ref_log_probs
    if by_reference:
        weight = xp.exp(ref_log_probs)
        return Term(value=-weight * distance, direct=-weight + 0.0 * distance)
    weight = xp.exp(log_probs)
    return Term(value=weight * distance, direct=weight * (distance + 1.0))


def old_penalty(old_log_probs: Array, ref_log_probs: Array, log_ratio: Array, *, part: Slot) -> Term:
    """Compute the penalty of the old policy: it does not depend on the policy that is trained.

    Args:
      old_log_probs, ref_log_probs, log_ratio: (..., P, G, T) in nats.
      part: the penalty.
    """
    return Term(value=part(log_probs=old_log_probs, ref_log_probs=ref_log_probs, log_ratio=log_ratio).value)


def detached_penalty(log_probs: Array, ref_log_probs: Array, log_ratio: Array, *, part: Slot) -> Term:
    """Detach the penalty: it is part of the loss, but its slope is zero.

    Args:
      log_probs, ref_log_probs, log_ratio: (..., P, G, T) in nats.
      part: the penalty.
    """
    return Term(value=part(log_probs=log_probs, ref_log_probs=ref_log_probs, log_ratio=log_ratio).value)


# ---- levels --------------------------------------------------------------------------------------


def padded_mean_level(log_ratio: Array, mask: Array) -> Array:
    """Average the log-ratios of a completion over the padded length.

        zₜ = (1/T) Σₛ log rₛ

    Args:
      log_ratio: (..., P, G, T) in nats.
      mask: (..., P, G, T) 1 on completion tokens.
    """
    xp = array_namespace(log_ratio)
    total = xp.sum(where_mask(mask, log_ratio), axis=TOKENS, keepdims=True)
    return where_mask(mask, total / mask.shape[TOKENS] + xp.zeros_like(log_ratio))


def mean_ratio_level(log_ratio: Array, mask: Array) -> Array:
    """Average the ratios of a completion, in place of their logarithms.

        zₜ = log (1/|o| Σₛ rₛ)

    Args:
      log_ratio: (..., P, G, T) in nats.
      mask: (..., P, G, T) 1 on completion tokens.
    """
    xp = array_namespace(log_ratio)
    ratios = xp.sum(where_mask(mask, xp.exp(log_ratio)), axis=TOKENS, keepdims=True)
    lengths = xp.sum(as_floating(mask), axis=TOKENS, keepdims=True)
    mean = xp.where(lengths > 0.0, ratios / at_least(lengths, 1.0), 1.0)
    return where_mask(mask, xp.log(mean) + xp.zeros_like(log_ratio))


def batch_mean_level(log_ratio: Array, mask: Array) -> Array:
    """Average the log-ratios of all completions: they are packed into one row and taken for one completion.

        zₜ = Σ log r / Σ m,    sums over all tokens of the batch

    Args:
      log_ratio: (..., P, G, T) in nats.
      mask: (..., P, G, T) 1 on completion tokens.
    """
    xp = array_namespace(log_ratio)
    total = xp.sum(where_mask(mask, log_ratio), axis=BATCH, keepdims=True)
    tokens = at_least(xp.sum(as_floating(mask), axis=BATCH, keepdims=True), 1.0)
    return where_mask(mask, total / tokens + xp.zeros_like(log_ratio))


# ---- corrections ---------------------------------------------------------------------------------


def inverted_correction(old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, part: Slot) -> Array:
    """Exchange old policy and sampler in a correction.

    Args:
      old_log_probs, rollout_log_probs: (..., P, G, T) in nats.
      mask: (..., P, G, T) 1 on completion tokens.
      part: the correction.
    """
    return part(old_log_probs=rollout_log_probs, rollout_log_probs=old_log_probs, mask=mask)


def correction_of_policy(log_probs: Array, rollout_log_probs: Array, mask: Array, *, part: Slot) -> Array:
    """Compare the policy itself with the sampler, in place of the old policy.

    Args:
      log_probs, rollout_log_probs: (..., P, G, T) in nats.
      mask: (..., P, G, T) 1 on completion tokens.
      part: the correction.
    """
    return part(old_log_probs=log_probs, rollout_log_probs=rollout_log_probs, mask=mask)


# ---- weights -------------------------------------------------------------------------------------


def padded_mean(mask: Array) -> Array:
    """Divide every completion by the padded length, so that short completions count less.

        W = m / (P G T)

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
    """
    mask = as_floating(mask)
    completions = mask.shape[-3] * mask.shape[-2]
    return mask / (mask.shape[TOKENS] * completions)


def in_micro_batches(mask: Array, max_length: int, *, part: Slot, size: int = 0, number: int = 1) -> Array:
    """Average each micro-batch by itself, and give all micro-batches the same weight.

        W = W'(m of the micro-batch) / number of micro-batches

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
      size: number of completions in a micro-batch; the last micro-batch may be smaller.
      number: number of micro-batches of equal size, used if size is 0.
    """
    xp = array_namespace(mask)
    size = size or -(-mask.shape[-2] // number)
    starts = range(0, mask.shape[-2], size)
    chunks = [
        part(mask=as_floating(mask[..., start : start + size, :]), max_length=max_length) for start in starts
    ]
    return xp.concat(chunks, axis=-2) / len(chunks)


def divided_again(mask: Array, max_length: int, *, part: Slot, by: str) -> Array:
    """Divide once more what is already an average.

        W = W'(m) / d,    d = the tokens of the completion, of the batch, the completions, or T

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
      by: "length", "tokens", "completions" or "padded".
    """
    xp, mask = array_namespace(mask), as_floating(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    total = xp.sum(lengths, axis=(-3, -2), keepdims=True)
    divisors = {
        "length": at_least(lengths, 1.0),
        "tokens": at_least(total, 1.0),
        "completions": mask.shape[-3] * mask.shape[-2],
        "padded": mask.shape[TOKENS],
    }
    return part(mask=mask, max_length=max_length) / divisors[by]


def longest_mean(mask: Array) -> Array:
    """Divide every completion by the length of the longest one.

        W = m / (P G max |o|)

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
    """
    xp, mask = array_namespace(mask), as_floating(mask)
    longest = xp.max(xp.sum(mask, axis=TOKENS, keepdims=True), axis=(-3, -2), keepdims=True)
    return mask / (at_least(longest, 1.0) * (mask.shape[-3] * mask.shape[-2]))


def position_mean(mask: Array) -> Array:
    """Average over the completions at each position, then over the positions: the two axes are exchanged.

        W = m / (T Σ m),    the sum over the completions at this position

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
    """
    xp, mask = array_namespace(mask), as_floating(mask)
    return mask / (at_least(xp.sum(mask, axis=(-3, -2), keepdims=True), 1.0) * mask.shape[TOKENS])


def unfloored(mask: Array, max_length: int, *, part: Slot, by: str) -> Array:
    """Divide 0 by 0 where nothing is counted: the whole loss is NaN.

        W = W'(m),    NaN if a completion, or with by="tokens" the whole batch, has no token

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
      by: "length" or "tokens".
    """
    xp, counted = array_namespace(mask), as_floating(mask)
    lengths = xp.sum(counted, axis=TOKENS, keepdims=True)
    reduce = xp.min if by == "length" else xp.max
    fewest = reduce(lengths, axis=(-3, -2), keepdims=True)
    return xp.where(fewest > 0.0, part(mask=mask, max_length=max_length), xp.nan)


def summed_completions(mask: Array, max_length: int, *, part: Slot) -> Array:
    """Forget the mean over the completions: add their losses.

        W = n W'(m),    n the completions

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
    """
    return part(mask=mask, max_length=max_length) * (mask.shape[-3] * mask.shape[-2])


def in_packed_rows(mask: Array, max_length: int, *, part: Slot, size: int) -> Array:
    """Take several completions that are packed into one row for one completion.

        W = W'(m of the packed rows)

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
      max_length: the generation budget in tokens.
      part: the aggregation W'.
      size: completions in a row; 0 if all completions are in one row.
    """
    xp, mask = array_namespace(mask), as_floating(mask)
    rows = mask.shape[-2]
    size = size or rows
    spare = -rows % size
    empty = xp.zeros_like(mask[..., :1, :])
    whole = xp.concat([mask, *[empty] * spare], axis=-2)
    packed = whole.reshape(*mask.shape[:-2], (rows + spare) // size, size * mask.shape[-1])
    return part(mask=packed, max_length=max_length).reshape(whole.shape)[..., :rows, :]
