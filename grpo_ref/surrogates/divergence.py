"""DPPO: the trust region is a divergence of the two policies at the token, not the ratio.

A ratio is large for a rare token that hardly moved and small for a frequent one that moved a lot. Here a
token is left out if its policy has moved by more than a threshold, away from the one that drew it and in the
direction of the advantage. What is left is weighted by the detached, capped ratio.

    sₜ = sg[min(rₜ, max_ratio) mₜ] A log πθ(t),   mₜ = 0 where too far and moving away, else 1

All kernels take the log-ratio token by token. Divergence Proximal PO (arXiv:2602.04879).
"""

import math

from grpo_ref.arrays import Array, array_namespace, at_least
from grpo_ref.types import Term

SMALLEST = 1e-12
"""Floor of the probability of all other tokens; TRL's, for the rest beside the likeliest tokens."""


def dppo_tv(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.15,
    high: float = 0.15,
    max_ratio: float = 20.0,
    min_ratio: float = 0.0,
) -> Term:
    """Total variation of token against not-token: |πθ(t) - πold(t)|, with a threshold for each direction.

        left out:  A > 0 and πθ - πold > high,    A <= 0 and πold - πθ > low

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability, >= 0; 0.15 in TRL. verl reads clip_ratio_low and clip_ratio_high,
        0.2.
      max_ratio: cap of the weight; 20 in TRL. verl's clip_ratio_c is 3.0 unless it is set.
      min_ratio: floor of the weight; exp(-20) in verl.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary TV; verl `compute_policy_loss_dppo_tv`.
    """
    far = abs(probability_change(log_ratio, log_probs))
    return _masked(log_ratio, log_probs, advantages, far, low, high, max_ratio, min_ratio)


def dppo_kl(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.05,
    high: float = 0.05,
    max_ratio: float = 20.0,
    min_ratio: float = 0.0,
    eps: float = 0.0,
) -> Term:
    """KL of token against not-token, from the old policy q to the new one p, a threshold for each direction.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p))
        left out:  A > 0, p > q and D > high,    A <= 0, p < q and D > low

    Args:
      log_ratio, log_probs, advantages, max_ratio, min_ratio: as in `dppo_tv`.
      low, high: thresholds in nats, >= 0; 0.05 is recommended.
      eps: added to 1 - q and 1 - p; 1e-8 in verl. TRL limits p and q to 1 - 1e-7 instead.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary KL; verl `compute_policy_loss_dppo_kl`.
    """
    far = binary_kl(log_ratio, log_probs, eps=eps)
    return _masked(log_ratio, log_probs, advantages, far, low, high, max_ratio, min_ratio)


def dppo_top_tv(
    log_ratio: Array,
    log_probs: Array,
    top_log_probs: Array,
    top_old_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.15,
    high: float = 0.15,
    max_ratio: float = 20.0,
) -> Term:
    """Total variation over the K likeliest tokens and one bucket for all others.

        D = 1/2 (Σₖ |pₖ - qₖ| + |p_rest - q_rest|),   rest = 1 - Σₖ, at least 1e-12
        left out:  A > 0, πθ > πold and D > high,    A <= 0, πθ < πold and D > low

    Args:
      log_ratio, log_probs, advantages, low, high, max_ratio: as in `dppo_tv`.
      top_log_probs, top_old_log_probs: (P, G, T, K) log-probabilities of the same K tokens, in nats.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k TV; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_old_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_old_log_probs)
    far = 0.5 * (xp.sum(abs(p - q), axis=-1) + abs(_rest(p) - _rest(q)))
    return _masked(log_ratio, log_probs, advantages, far, low, high, max_ratio)


def dppo_top_kl(
    log_ratio: Array,
    log_probs: Array,
    top_log_probs: Array,
    top_old_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.05,
    high: float = 0.05,
    max_ratio: float = 20.0,
) -> Term:
    """KL from the old policy over the K likeliest tokens and one bucket for all others.

        D = Σₖ qₖ log(qₖ/pₖ) + q_rest log(q_rest/p_rest)
        left out:  A > 0, πθ > πold and D > high,    A <= 0, πθ < πold and D > low

    Args:
      log_ratio, log_probs, advantages, max_ratio: as in `dppo_tv`.
      top_log_probs, top_old_log_probs: (P, G, T, K) log-probabilities of the same K tokens, in nats.
      low, high: thresholds in nats, >= 0.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k KL; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_old_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_old_log_probs)
    each = xp.where(q > 0.0, q * (top_old_log_probs - top_log_probs), 0.0)
    far = xp.sum(each, axis=-1) + _rest(q) * xp.log(_rest(q) / _rest(p))
    return _masked(log_ratio, log_probs, advantages, far, low, high, max_ratio)


def binary_kl(log_ratio: Array, log_probs: Array, *, eps: float = 0.0) -> Array:
    """KL from the old policy's token-or-not to the new one's, in nats.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p)),   p = πθ(t), q = πold(t)

    Args:
      log_ratio, log_probs: (P, G, T) as in `dppo_tv`.
      eps: added to 1 - q and 1 - p.
    """
    xp = array_namespace(log_ratio, log_probs)
    p, q = xp.exp(log_probs), xp.exp(log_probs - log_ratio)
    not_p, not_q = at_least(1.0 - p, SMALLEST) + eps, at_least(1.0 - q, SMALLEST) + eps
    return not_q * xp.log(not_q / not_p) - q * log_ratio


def probability_change(log_ratio: Array, log_probs: Array) -> Array:
    """πθ(t) - πold(t)."""
    xp = array_namespace(log_ratio, log_probs)
    return xp.exp(log_probs) - xp.exp(log_probs - log_ratio)


def _rest(probs: Array) -> Array:
    return at_least(1.0 - array_namespace(probs).sum(probs, axis=-1), SMALLEST)


def _masked(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    far: Array,
    low: float,
    high: float,
    max_ratio: float,
    min_ratio: float = 0.0,
) -> Term:
    """The capped ratio, held constant; 0 for tokens too far off in the direction of their advantage."""
    if not (low >= 0.0 and high >= 0.0 and max_ratio > 0.0):
        raise ValueError(f"expected low, high >= 0 and max_ratio > 0, got {low}, {high} and {max_ratio}")
    xp = array_namespace(log_ratio, log_probs, advantages)
    ratio, moved = xp.exp(log_ratio), probability_change(log_ratio, log_probs)
    capped = ratio if math.isinf(max_ratio) else xp.clip(ratio, min_ratio, max_ratio)
    too_high = (advantages > 0.0) & (moved > 0.0) & (far > high)
    too_low = (advantages <= 0.0) & (moved < 0.0) & (far > low)
    weight = xp.where(too_high | too_low, 0.0, capped * advantages)
    return Term(value=weight * log_probs, direct=weight)
