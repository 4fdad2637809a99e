"""Wrong kernels that are easily mistaken for right ones. Do not train with them.

Each has the signature of the kernel for which it is mistaken, so that replacing one part of a recipe gives a
wrong recipe. Summaries describe the mistake.
"""

from types import SimpleNamespace

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating, at_least, where_mask
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
