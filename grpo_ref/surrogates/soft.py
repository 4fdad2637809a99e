"""Soft gates: the slope falls smoothly when the ratio is far from 1, and never drops to 0 at a bound."""

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.types import Term


def sapo(
    log_ratio: Array, advantages: Array, *, tau_positive: float = 1.0, tau_negative: float = 1.05
) -> Term:
    """A soft gate instead of a hard clip: far from a ratio of 1, the slope falls smoothly below that of r A.

        sₜ = (4/τ) σ(τ (rₜ - 1)) A,   rₜ = exp(log_ratio),   τ = tau_positive where A > 0, else tau_negative

    The slope is 4 p (1 - p) rₜ A with p = σ(τ (rₜ - 1)). At rₜ = 1 the slope is A for every τ. A larger τ
    makes the gate sharper. Far from 1 the slope is tiny but not 0. The code computes p (1 - p) as f/(1 + f)²
    with f = exp(-τ|rₜ - 1|), because 1 - p would be rounded to 0.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      tau_positive, tau_negative: sharpness of the gate, > 0; 1.0 and 1.05 in TRL and verl.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a sharpness is not positive.

    Gao et al. 2025, SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.
    """
    if not tau_positive > 0.0 or not tau_negative > 0.0:
        raise ValueError(f"expected tau_positive, tau_negative > 0, got {tau_positive} and {tau_negative}")
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    tau = xp.where(advantages > 0.0, xp.full_like(ratio, tau_positive), tau_negative)
    distance = tau * (ratio - 1.0)
    f = xp.exp(-abs(distance))
    gate = xp.where(distance > 0.0, 1.0, f) / (1.0 + f)
    steepness = f / (1.0 + f) ** 2
    # Where the steepness is 0, the slope is 0, also if the ratio overflows: inf * 0 would be NaN.
    finite_ratio = xp.where(steepness > 0.0, ratio, 0.0)
    return Term(value=4.0 / tau * gate * advantages, slope=4.0 * steepness * finite_ratio * advantages)
