"""Variants that a book chapter on GRPO (2026) prints under the names of known algorithms.

Papers and trainers compute something else under those names. Here each variant has a name of its own, so that
you can see where it differs.
"""

from grpo_ref.arrays import TOKENS, Array, array_namespace, is_set
from grpo_ref.surrogates.divergence import probability_change
from grpo_ref.types import Term


def gated_ratio(
    log_ratio: Array, advantages: Array, *, tau_positive: float = 1.0, tau_negative: float = 1.05
) -> Term:
    """A variant printed under the name SAPO; the paper and the trainers compute `sapo`.

        sₜ = σ((rₜ - 1)/τ⁺) rₜ A  where A > 0,    σ((1 - rₜ)/τ⁻) rₜ A  elsewhere

    It divides by τ, multiplies by the ratio once more, and mirrors the gate for tokens with A < 0. At rₜ = 1
    its slope is A (1/2 + 1/(4τ⁺)) or A (1/2 - 1/(4τ⁻)), not A; and for τ → ∞ it is half the unclipped
    surrogate.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      tau_positive, tau_negative: widths of the gate, > 0; a larger one is softer.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a width is not positive.

    A book chapter on GRPO (2026, not public), sec. 7.5.6; compare `sapo`.
    """
    if not tau_positive > 0.0 or not tau_negative > 0.0:
        raise ValueError(f"expected tau_positive, tau_negative > 0, got {tau_positive} and {tau_negative}")
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    sharpness = xp.where(advantages > 0.0, xp.full_like(ratio, 1.0 / tau_positive), -1.0 / tau_negative)
    gate = 0.5 + 0.5 * xp.tanh(0.5 * sharpness * (ratio - 1.0))
    gain = gate * ratio * advantages
    return Term(value=gain, slope=gain * (1.0 + sharpness * (1.0 - gate) * ratio))


def symmetric_tv(log_ratio: Array, log_probs: Array, advantages: Array, *, delta: float = 0.15) -> Term:
    """A variant of DPPO's binary TV mask that also drops tokens which moved back.

        sₜ = rₜ A [ |πθ(t) - πold(t)| <= δ ]

    Where the policy has moved too far against the advantage, the paper's mask lets the token pull it back;
    this one does not. The chapter first prints πθ(o|q), the probability of a whole completion, in place
    of rₜ, and D(πθ ‖ πold) of whole distributions, which no mask of single tokens computes.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      delta: threshold in probability, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ, the mask held constant.

    A book chapter on GRPO (2026, not public), sec. 7.5.9; compare `dppo_tv`.
    """
    return _masked_ratio(log_ratio, advantages, abs(probability_change(log_ratio, log_probs)) <= delta)


def symmetric_kl(log_ratio: Array, log_probs: Array, advantages: Array, *, delta: float = 0.05) -> Term:
    """A variant of DPPO's binary KL mask: one term of the divergence, without a direction.

        sₜ = rₜ A [ πθ(t) log rₜ <= δ ]

    πθ log(πθ/πold) is half of a Bernoulli KL and negative for tokens that became rarer, which are never
    dropped. For πθ(o|q) in place of rₜ, see `symmetric_tv`.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      delta: threshold in nats, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ, the mask held constant.

    A book chapter on GRPO (2026, not public), sec. 7.5.9; compare `dppo_kl`.
    """
    xp = array_namespace(log_ratio, log_probs)
    return _masked_ratio(log_ratio, advantages, xp.exp(log_probs) * log_ratio <= delta)


def top_movers(log_ratio: Array, log_probs: Array, advantages: Array, mask: Array, *, k: int = 20) -> Term:
    """A textbook's top-k mask: of each completion the k tokens that moved most.

        sₜ = rₜ A [ |πθ(t) - πold(t)| among the k largest of its completion ]

    The paper's top-k is about the vocabulary, see `dppo_top_tv`; this is about the tokens of a completion.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      mask: (P, G, T) 1 on completion tokens.
      k: how many tokens are kept, >= 1; ties are all kept.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ, the mask held constant.

    Raises:
      ValueError: if k < 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.9, "topk_tv".
    """
    return _masked_ratio(log_ratio, advantages, _top(abs(probability_change(log_ratio, log_probs)), mask, k))


def top_kl_movers(log_ratio: Array, log_probs: Array, advantages: Array, mask: Array, *, k: int = 20) -> Term:
    """A textbook's top-k mask by KL: of each completion the k tokens with the largest term of a KL.

        sₜ = rₜ A [ πθ(t) log rₜ among the k largest of its completion ]

    A token that became rarer adds less than nothing, so it is kept only where there are few others. The
    paper's top-k is about the vocabulary, see `dppo_top_kl`.

    Args:
      log_ratio, log_probs, advantages, mask, k: as in `top_movers`.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ, the mask held constant.

    Raises:
      ValueError: if k < 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.9, "topk_kl".
    """
    return _masked_ratio(
        log_ratio, advantages, _top(array_namespace(log_probs).exp(log_probs) * log_ratio, mask, k)
    )


def _top(values: Array, mask: Array, k: int) -> Array:
    """Mask of the tokens whose value is among the k largest of their completion."""
    if k < 1:
        raise ValueError(f"k: expected at least 1 token, got {k}")
    xp = array_namespace(values, mask)
    values = xp.where(is_set(mask), values, -xp.inf)
    place = max(values.shape[TOKENS] - k, 0)
    return values >= xp.sort(values, axis=TOKENS)[..., place : place + 1]


def _masked_ratio(log_ratio: Array, advantages: Array, keep: Array) -> Term:
    xp = array_namespace(log_ratio, advantages)
    gain = xp.where(keep, xp.exp(log_ratio) * advantages, 0.0)
    return Term(value=gain, slope=gain)
