"""DPPO: the trust region is a divergence of the two policies at the token, not the ratio.

The ratio of a rare token can be large although its probability has hardly changed. The ratio of a frequent
token can be near 1 although its probability has changed a lot. So these kernels compare D, a divergence of
the old and the current policy at the token, with a threshold. A token is dropped if D is above the threshold
and its probability has moved in the direction of its advantage: up for A > 0, down for A <= 0. The weight of
the other tokens is the detached, capped ratio.

    sₜ = sg[min(rₜ, max_ratio) mₜ] A log πθ(t),   mₜ = 0 if the token is dropped, else 1

The log-ratio is that of single tokens, without a sequence level. Divergence Proximal PO (arXiv:2602.04879).
"""

from grpo_ref.arrays import Array, array_namespace, at_least
from grpo_ref.types import Term

MIN_OTHER_PROB = 1e-12
"""Lower limit of the probability of all other tokens; TRL has it for the tokens outside the top K."""


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
    """The divergence is the total variation of two-outcome distributions: this token, any other token.

        D = |πθ(t) - πold(t)|
        dropped:  A > 0, πθ > πold and D > high,    A <= 0, πθ < πold and D > low

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability, >= 0; 0.15 in TRL. verl reads clip_ratio_low and clip_ratio_high,
        0.2.
      max_ratio: largest ratio in the weight; 20 in TRL. In verl it is clip_ratio_c, 3.0 by default.
      min_ratio: smallest ratio in the weight; exp(-20) in verl.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary TV; verl `compute_policy_loss_dppo_tv`.
    """
    divergence = abs(probability_change(log_ratio, log_probs))
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio, min_ratio)


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
    """The divergence is the KL of two-outcome distributions: this token, any other token.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p)),   p = πθ(t), q = πold(t)
        dropped:  A > 0, p > q and D > high,    A <= 0, p < q and D > low

    Args:
      log_ratio, log_probs, advantages, max_ratio, min_ratio: as in `dppo_tv`.
      low, high: thresholds in nats, >= 0; 0.05 is recommended.
      eps: added to 1 - q and 1 - p; 1e-8 in verl. TRL limits p and q to 1 - 1e-7 instead.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary KL; verl `compute_policy_loss_dppo_kl`.
    """
    divergence = binary_kl(log_ratio, log_probs, eps=eps)
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio, min_ratio)


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
    """The divergence is the total variation over the K most likely tokens and one bucket for all others.

        D = 1/2 (Σₖ |pₖ - qₖ| + |p_rest - q_rest|),   rest = 1 - Σₖ, at least 1e-12
        dropped:  A > 0, πθ > πold and D > high,    A <= 0, πθ < πold and D > low

    Args:
      log_ratio, log_probs, advantages, low, high, max_ratio: as in `dppo_tv`.
      top_log_probs, top_old_log_probs: (P, G, T, K) log-probabilities of the same K tokens, in nats.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k TV; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_old_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_old_log_probs)
    divergence = 0.5 * (xp.sum(abs(p - q), axis=-1) + abs(_rest(p) - _rest(q)))
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio)


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
    """The divergence is the KL over the K most likely tokens and one bucket for all others.

        D = Σₖ qₖ log(qₖ/pₖ) + q_rest log(q_rest/p_rest)
        dropped:  A > 0, πθ > πold and D > high,    A <= 0, πθ < πold and D > low

    Args:
      log_ratio, log_probs, advantages, max_ratio: as in `dppo_tv`.
      top_log_probs, top_old_log_probs: (P, G, T, K) log-probabilities of the same K tokens, in nats.
      low, high: thresholds in nats, >= 0.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k KL; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_old_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_old_log_probs)
    terms = xp.where(q > 0.0, q * (top_old_log_probs - top_log_probs), 0.0)
    divergence = xp.sum(terms, axis=-1) + _rest(q) * xp.log(_rest(q) / _rest(p))
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio)


def binary_kl(log_ratio: Array, log_probs: Array, *, eps: float = 0.0) -> Array:
    """KL from the old to the current policy of two-outcome distributions (this token, any other), in nats.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p)),   p = πθ(t), q = πold(t)

    Args:
      log_ratio, log_probs: (P, G, T) as in `dppo_tv`.
      eps: added to 1 - q and 1 - p.
    """
    xp = array_namespace(log_ratio, log_probs)
    p, q = xp.exp(log_probs), xp.exp(log_probs - log_ratio)
    not_p, not_q = at_least(1.0 - p, MIN_OTHER_PROB) + eps, at_least(1.0 - q, MIN_OTHER_PROB) + eps
    return not_q * xp.log(not_q / not_p) - q * log_ratio


def probability_change(log_ratio: Array, log_probs: Array) -> Array:
    """πθ(t) - πold(t)."""
    xp = array_namespace(log_ratio, log_probs)
    return xp.exp(log_probs) - xp.exp(log_probs - log_ratio)


def _rest(probs: Array) -> Array:
    return at_least(1.0 - array_namespace(probs).sum(probs, axis=-1), MIN_OTHER_PROB)


def _masked(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    divergence: Array,
    low: float,
    high: float,
    max_ratio: float,
    min_ratio: float = 0.0,
) -> Term:
    """Surrogate with the capped ratio as a constant weight, which is 0 for dropped tokens."""
    if not (low >= 0.0 and high >= 0.0 and max_ratio > 0.0):
        raise ValueError(f"expected low, high >= 0 and max_ratio > 0, got {low}, {high} and {max_ratio}")
    xp = array_namespace(log_ratio, log_probs, advantages)
    ratio, moved = xp.exp(log_ratio), probability_change(log_ratio, log_probs)
    capped = xp.clip(ratio, min_ratio, max_ratio)
    too_high = (advantages > 0.0) & (moved > 0.0) & (divergence > high)
    too_low = (advantages <= 0.0) & (moved < 0.0) & (divergence > low)
    weight = xp.where(too_high | too_low, 0.0, capped * advantages)
    return Term(value=weight * log_probs, direct=weight)
