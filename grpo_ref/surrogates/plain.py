"""No trust region: policy gradients without a clip."""

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.types import Term


def reinforce(log_probs: Array, advantages: Array) -> Term:
    """The plain policy gradient: no ratio, no trust region.

        sₜ = A log πθ(t)

    Only the derivative has a meaning; the value contains log πθ.

    Args:
      log_probs: (P, G, T) log πθ of the tokens, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Williams 1992; verl `compute_policy_loss_gpg`.
    """
    xp = array_namespace(log_probs, advantages)
    return Term(value=log_probs * advantages, direct=advantages + xp.zeros_like(log_probs))


def importance_weighted(log_ratio: Array, advantages: Array) -> Term:
    """The policy gradient on data of an older policy, corrected by the ratio and never clipped.

        sₜ = rₜ A,   rₜ = exp(log_ratio)

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ, which are equal.

    Schulman et al. 2017, eq. 6 (arXiv:1707.06347).
    """
    gain = array_namespace(log_ratio, advantages).exp(log_ratio) * advantages
    return Term(value=gain, slope=gain)


def squared_ratio(log_ratio: Array, log_probs: Array, advantages: Array, *, beta: float) -> Term:
    """The policy gradient with a square that pulls every log-ratio back to 0: DRO.

        sₜ = A log πθ(t) - (β/2) (log rₜ)²

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      beta: weight of the square, >= 0; verl's dro_beta, which has no default.

    Returns:
      Term of (P, G, T) arrays; `direct` is A, and `slope` is -β log rₜ.

    Raises:
      ValueError: if beta is negative.

    Richemond et al. 2024, DRO (arXiv:2405.19107); verl `compute_policy_loss_dro`.
    """
    if not beta >= 0.0:
        raise ValueError(f"beta: expected a number >= 0, got {beta}")
    plain = reinforce(log_probs, advantages)
    return Term(plain.value - 0.5 * beta * log_ratio**2, slope=-beta * log_ratio, direct=plain.direct)
