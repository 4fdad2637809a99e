"""DPPO: the trust region is a divergence of the two policies at the token, not the ratio.

The ratio of a rare token can be large although its probability has hardly changed. The ratio of a frequent
token can be near 1 although its probability has changed a lot. So these kernels compare D, a divergence of
the sampler and the current policy at the token, with a threshold. A token is dropped if D is above the
threshold and its probability has moved in the direction of its advantage: up for A > 0, down for A <= 0. The
weight of the other tokens is the detached, capped ratio.

    sₜ = sg[min(rₜ, max_ratio) mₜ] A log πθ(t),   rₜ = πθ(t) / μ(t),   mₜ = 0 if the token is dropped, else 1

μ is the policy that sampled the tokens. There are two policies, not three: these kernels do not read the
policy at the start of the update, and so need no correction for a mismatch of sampler and learner. TRL's
former `DPPOTrainer` (PR #5117) and SkyRL compare with the sampler too. verl's loss compares with the policy
at the start of the update, which verl recomputes by default.

The ratio is that of single tokens, without a sequence level. Qi et al. 2026, *Rethinking the trust region in
LLM reinforcement learning* (arXiv:2602.04879).
"""

from grpo_ref.arrays import Array, array_namespace, at_least
from grpo_ref.types import Term

MIN_OTHER_PROB = 1e-12
"""Lower limit of the probability of all other tokens; TRL has it for the tokens outside the top K."""


def dppo_tv(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.15,
    high: float = 0.15,
    max_ratio: float = 20.0,
    min_ratio: float = 0.0,
) -> Term:
    """The divergence is the total variation of two-outcome distributions: this token, any other token.

        D = |πθ(t) - μ(t)|
        dropped:  A > 0, πθ > μ and D > high,    A <= 0, πθ < μ and D > low

    Args:
      log_probs: (P, G, T) log πθ, in nats.
      rollout_log_probs: (P, G, T) log μ, as the sampler reported them, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability, >= 0; 0.15 in TRL. verl reads clip_ratio_low and clip_ratio_high,
        0.2.
      max_ratio: largest ratio in the weight; 20 in TRL. In verl it is clip_ratio_c, 3.0 by default.
      min_ratio: smallest ratio in the weight; exp(-20) in verl.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary TV; TRL's former `DPPOTrainer`. verl `compute_policy_loss_dppo_tv` has the
    log-probabilities of the old policy in place of the sampler's.
    """
    log_ratio = log_probs - rollout_log_probs
    divergence = abs(probability_change(log_ratio, log_probs))
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio, min_ratio)


def dppo_kl(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.05,
    high: float = 0.05,
    max_ratio: float = 20.0,
    min_ratio: float = 0.0,
    eps: float = 0.0,
) -> Term:
    """The divergence is the KL of two-outcome distributions: this token, any other token.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p)),   p = πθ(t), q = μ(t)
        dropped:  A > 0, p > q and D > high,    A <= 0, p < q and D > low

    Args:
      log_probs, rollout_log_probs, advantages, max_ratio, min_ratio: as in `dppo_tv`.
      low, high: thresholds in nats, >= 0; 0.05 is recommended.
      eps: added to 1 - q and 1 - p; 1e-8 in verl. TRL limits p and q to 1 - 1e-7 instead.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), binary KL; TRL's former `DPPOTrainer`. verl `compute_policy_loss_dppo_kl` has the
    log-probabilities of the old policy in place of the sampler's.
    """
    log_ratio = log_probs - rollout_log_probs
    divergence = binary_kl(log_ratio, log_probs, eps=eps)
    return _masked(log_ratio, log_probs, advantages, divergence, low, high, max_ratio, min_ratio)


def dppo_top_tv(
    log_probs: Array,
    rollout_log_probs: Array,
    top_log_probs: Array,
    top_rollout_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.15,
    high: float = 0.15,
    max_ratio: float = 20.0,
) -> Term:
    """The divergence is the total variation over the K most likely tokens and one bucket for all others.

        D = 1/2 (Σₖ |pₖ - qₖ| + |p_rest - q_rest|),   rest = 1 - Σₖ, at least 1e-12
        dropped:  A > 0, πθ > μ and D > high,    A <= 0, πθ < μ and D > low

    Args:
      log_probs, rollout_log_probs, advantages, low, high, max_ratio: as in `dppo_tv`.
      top_log_probs, top_rollout_log_probs: (P, G, T, K) log-probabilities of the same K tokens, under the
        policy and under the sampler, in nats.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k TV; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_rollout_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_rollout_log_probs)
    divergence = 0.5 * (xp.sum(abs(p - q), axis=-1) + abs(_rest(p) - _rest(q)))
    return _masked(log_probs - rollout_log_probs, log_probs, advantages, divergence, low, high, max_ratio)


def dppo_top_kl(
    log_probs: Array,
    rollout_log_probs: Array,
    top_log_probs: Array,
    top_rollout_log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.05,
    high: float = 0.05,
    max_ratio: float = 20.0,
) -> Term:
    """The divergence is the KL over the K most likely tokens and one bucket for all others.

        D = Σₖ qₖ log(qₖ/pₖ) + q_rest log(q_rest/p_rest)
        dropped:  A > 0, πθ > μ and D > high,    A <= 0, πθ < μ and D > low

    Args:
      log_probs, rollout_log_probs, advantages, max_ratio: as in `dppo_tv`.
      top_log_probs, top_rollout_log_probs: as in `dppo_top_tv`.
      low, high: thresholds in nats, >= 0.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a threshold is negative or max_ratio not positive.

    DPPO (arXiv:2602.04879), top-k KL; TRL's former `DPPOTrainer`, K = 20.
    """
    xp = array_namespace(top_log_probs, top_rollout_log_probs)
    p, q = xp.exp(top_log_probs), xp.exp(top_rollout_log_probs)
    terms = xp.where(q > 0.0, q * (top_rollout_log_probs - top_log_probs), 0.0)
    divergence = xp.sum(terms, axis=-1) + _rest(q) * xp.log(_rest(q) / _rest(p))
    return _masked(log_probs - rollout_log_probs, log_probs, advantages, divergence, low, high, max_ratio)


def binary_kl(log_ratio: Array, log_probs: Array, *, eps: float = 0.0) -> Array:
    """KL from another to the current policy of two-outcome distributions (this token, any other), in nats.

        D = q log(q/p) + (1 - q) log((1 - q)/(1 - p)),   p = πθ(t), q the other policy's

    Args:
      log_ratio: (P, G, T) log p - log q, in nats.
      log_probs: (P, G, T) log p, in nats.
      eps: added to 1 - q and 1 - p.
    """
    xp = array_namespace(log_ratio, log_probs)
    p, q = xp.exp(log_probs), xp.exp(log_probs - log_ratio)
    not_p, not_q = at_least(1.0 - p, MIN_OTHER_PROB) + eps, at_least(1.0 - q, MIN_OTHER_PROB) + eps
    return not_q * xp.log(not_q / not_p) - q * log_ratio


def probability_change(log_ratio: Array, log_probs: Array) -> Array:
    """Change of the probability: p - q, from log_ratio = log p - log q and log_probs = log p."""
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
