"""Wrong kernels, each once: what somebody writes who means the right one. Nothing here is to be trained with.

They are called like the kernels that they are mistaken for, so that a wrong recipe is a right one with one
part replaced.
"""

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.types import Term

# ---- surrogates ----------------------------------------------------------------------------------


def inverted(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """The ratio is upside down: the clipped surrogate of πold / πθ.

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
    """The minimum is missing: a token that has moved the wrong way beyond the clip is not called back.

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


def stale_clipped(log_probs: Array, ref_log_probs: Array, advantages: Array) -> Term:
    """The old log-probabilities are never computed anew, so the ratio is to the first policy of all.

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
      advantages: broadcastable to them.
    """
    term = clipped(log_probs - ref_log_probs, advantages)
    return Term(value=term.value, direct=term.slope)


# ---- penalties -----------------------------------------------------------------------------------


def swapped_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """Policy and reference are exchanged in k3.

        k = eᵛ - 1 - v,    v = log πθ - log πref

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    term = k3(ref_log_probs, log_probs)
    return Term(value=term.value, direct=array_namespace(log_probs).expm1(log_probs - ref_log_probs))


def attracting_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """The sign of k3 is turned over: the policy is paid for leaving the reference.

    Args:
      log_probs, ref_log_probs: (..., P, G, T) in nats.
    """
    return Term(*(-part for part in k3(log_probs, ref_log_probs)))


# ---- weights -------------------------------------------------------------------------------------


def padded_mean(mask: Array) -> Array:
    """Every completion is divided by the padded length, so a short one counts less.

        W = m / (P G T)

    Args:
      mask: (..., P, G, T) 1 on completion tokens.
    """
    mask = as_floating(mask)
    completions = mask.shape[-3] * mask.shape[-2]
    return mask / (mask.shape[TOKENS] * completions)
