"""Surrogates of the textbook forms: variants that a book chapter prints under the names of known algorithms.

Papers and trainers compute other formulas under these names. So each variant has a separate name here, and
its docstring says how it differs. The chapter (2026) is not public.
"""

from grpo_ref.arrays import TOKENS, Array, array_namespace, is_set
from grpo_ref.surrogates.divergence import probability_change
from grpo_ref.types import Term


def gated_ratio(
    log_ratio: Array, advantages: Array, *, tau_positive: float = 1.0, tau_negative: float = 1.05
) -> Term:
    """A variant of SAPO's soft gate; the paper and the trainers compute `sapo`.

        sₜ = σ((rₜ - 1)/τ⁺) rₜ A  where A > 0,    σ((1 - rₜ)/τ⁻) rₜ A  elsewhere

    Unlike in `sapo`, the gate divides by τ, it is multiplied by the ratio, there is no factor 4/τ, and the
    gate is mirrored for tokens with A < 0. At rₜ = 1 the slope is A (1/2 + 1/(4τ⁺)) for A > 0 and A (1/2 -
    1/(4τ⁻)) for A < 0, while `sapo` has A. For τ → ∞ the value is half the unclipped surrogate.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      tau_positive, tau_negative: widths of the gate, > 0; a wider gate is softer.

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
    """A variant of DPPO's binary TV mask that also drops tokens which moved against their advantage.

        sₜ = rₜ A [ |πθ(t) - πold(t)| <= δ ]

    If a token has moved too far against its advantage, the paper's mask keeps the token, so that its gradient
    moves it back. This mask drops it. The book chapter first prints the formula with πθ(o|q), the probability
    of a whole completion, instead of rₜ, and with the divergence D(πθ ‖ πold) of whole distributions. A mask
    of single tokens computes neither.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      delta: threshold in probability, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ. No gradient flows through the mask.

    A book chapter on GRPO (2026, not public), sec. 7.5.9; compare `dppo_tv`.
    """
    return _masked_ratio(log_ratio, advantages, abs(probability_change(log_ratio, log_probs)) <= delta)


def symmetric_kl(log_ratio: Array, log_probs: Array, advantages: Array, *, delta: float = 0.05) -> Term:
    """A variant of DPPO's binary KL mask: it uses one term of the divergence, and no direction.

        sₜ = rₜ A [ πθ(t) log rₜ <= δ ]

    πθ log(πθ/πold) is one of the two terms of the KL between two-outcome distributions (this token, any other
    token). It is negative for tokens that became less probable, so these are never dropped. About πθ(o|q)
    instead of rₜ, see `symmetric_tv`.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      delta: threshold in nats, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ. No gradient flows through the mask.

    A book chapter on GRPO (2026, not public), sec. 7.5.9; compare `dppo_kl`.
    """
    xp = array_namespace(log_ratio, log_probs)
    return _masked_ratio(log_ratio, advantages, xp.exp(log_probs) * log_ratio <= delta)


def top_movers(log_ratio: Array, log_probs: Array, advantages: Array, mask: Array, *, k: int = 20) -> Term:
    """Top-k mask over a completion: keep the k tokens whose probability changed most.

        sₜ = rₜ A [ |πθ(t) - πold(t)| among the k largest of its completion ]

    In the paper, top-k means the k most probable tokens of the vocabulary, see `dppo_top_tv`. Here it means k
    tokens of the completion.

    Args:
      log_ratio, log_probs, advantages: as in `dppo_tv`.
      mask: (P, G, T) 1 on completion tokens.
      k: number of tokens that are kept, >= 1. Tokens that are equal to the k-th are kept too.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ. No gradient flows through the mask.

    Raises:
      ValueError: if k < 1.

    A book chapter on GRPO (2026, not public), sec. 7.5.9, "topk_tv".
    """
    return _masked_ratio(log_ratio, advantages, _top(abs(probability_change(log_ratio, log_probs)), mask, k))


def top_kl_movers(log_ratio: Array, log_probs: Array, advantages: Array, mask: Array, *, k: int = 20) -> Term:
    """Top-k mask over a completion: keep the k tokens with the largest term of a KL.

        sₜ = rₜ A [ πθ(t) log rₜ among the k largest of its completion ]

    The term is negative for tokens that became less probable, so these are the last to be kept. In the paper,
    top-k means the k most probable tokens of the vocabulary, see `dppo_top_kl`.

    Args:
      log_ratio, log_probs, advantages, mask, k: as in `top_movers`.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ. No gradient flows through the mask.

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
    index = max(values.shape[TOKENS] - k, 0)  # of the k-th largest value in ascending order
    return values >= xp.sort(values, axis=TOKENS)[..., index : index + 1]


def _masked_ratio(log_ratio: Array, advantages: Array, keep: Array) -> Term:
    xp = array_namespace(log_ratio, advantages)
    gain = xp.where(keep, xp.exp(log_ratio) * advantages, 0.0)
    return Term(value=gain, slope=gain)
