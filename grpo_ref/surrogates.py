"""Surrogates: what each token contributes to the objective, and how it pushes the policy.

Every kernel returns a `Term`, to be maximised. Clipping is decided from the ratio and the sign of the
advantage, never by comparing the two branches, which breaks in mixed precision.
"""

from grpo_ref.arrays import BATCH, Array, array_namespace, at_least, is_set, masked_mean
from grpo_ref.types import Term


def reinforce(log_probs: Array, advantages: Array) -> Term:
    """The plain policy gradient: no ratio, no trust region.

        sₜ = A log πθ(t)

    Its value means nothing; only its slope does.

    Args:
      log_probs: (P, G, T) log πθ of the tokens, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

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


def clipped(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """PPO's pessimistic surrogate; a wider clip_high is DAPO's clip-higher.

        sₜ = min(rₜ A, clip(rₜ, 1 - clip_low, 1 + clip_high) A),   rₜ = exp(log_ratio)

    A token that has already been pushed far enough in the direction of its advantage still counts in the
    value but has slope zero. On the bound itself the slope is still the unclipped one.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: trust-region half-widths, 0 <= clip_low < 1, clip_high >= 0. 0.2 and 0.2 are PPO's
        and TRL's; DAPO uses 0.2 and 0.28, Open Instruct 0.2 and 0.272.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a half-width is out of range.

    Schulman et al. 2017, eq. 7 (arXiv:1707.06347); the asymmetric range is Yu et al. 2025, DAPO, eq. 10
    (arXiv:2503.14476).

    >>> import numpy as np
    >>> clipped(np.log(np.array([1.5, 1.5])), np.array([1.0, -1.0]))
    Term(value=array([ 1.2, -1.5]), slope=array([ 0. , -1.5]), direct=0.0)
    """
    if not 0.0 <= clip_low < 1.0 or not clip_high >= 0.0:
        raise ValueError(f"expected 0 <= clip_low < 1 and clip_high >= 0, got {clip_low} and {clip_high}")
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    too_high = (advantages > 0.0) & (ratio > 1.0 + clip_high)
    too_low = (advantages < 0.0) & (ratio < 1.0 - clip_low)
    gain = ratio * advantages
    bound = xp.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantages
    stopped = too_high | too_low
    return Term(value=xp.where(stopped, bound, gain), slope=xp.where(stopped, 0.0, gain))


def dual_clipped(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    max_ratio: float = 3.0,
) -> Term:
    """The clipped surrogate with a floor for bad tokens, whose ratio PPO leaves unbounded.

        sₜ = max(clipped(rₜ, A), max_ratio A)  where A < 0,    clipped(rₜ, A) elsewhere

    A bad token that has become max_ratio times likelier would otherwise dominate the batch; its slope is zero
    there.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: as in `clipped`.
      max_ratio: the ratio from which a bad token stops counting more, > 1. verl's clip_ratio_c = 3.0 is
        always on; it is TRL's `delta`.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a half-width is out of range or max_ratio <= 1.

    Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.
    """
    if not max_ratio > 1.0:
        raise ValueError(f"max_ratio: expected a number > 1, got {max_ratio}")
    xp = array_namespace(log_ratio, advantages)
    once = clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    too_likely = (advantages < 0.0) & (xp.exp(log_ratio) > max_ratio)
    return Term(
        value=xp.where(too_likely, max_ratio * advantages, once.value),
        slope=xp.where(too_likely, 0.0, once.slope),
    )


def cispo(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    min_ratio: float = 0.0,
    max_ratio: float = 5.0,
) -> Term:
    """REINFORCE weighted by a clipped ratio that is held constant: no token ever loses its gradient.

        sₜ = sg[clip(rₜ, min_ratio, max_ratio)] A log πθ(t),   rₜ = exp(log_ratio)

    Only the slope has a meaning; the value contains log πθ. The trainers' three caps:

    | trainer       | min_ratio                 | max_ratio                                          |
    |---------------|---------------------------|----------------------------------------------------|
    | TRL           | 0                         | epsilon_high itself (its docs: 5; unset it is 0.2) |
    | Open Instruct | 0                         | 1 + clip_higher = 1.272                            |
    | verl          | 1 - clip_ratio_low = 0.8  | 1 + clip_ratio_high = 1.2                          |

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      min_ratio, max_ratio: bounds of the weight, 0 <= min_ratio <= max_ratio; 5 is ScaleRL's cap.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if the bounds are out of range.

    MiniMax 2025, CISPO in MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`, Open Instruct
    `loss_fn="cispo"`, verl `compute_policy_loss_cispo`.

    >>> import numpy as np
    >>> cispo(np.log(np.array([9.0])), np.log(np.array([0.5])), np.array([1.0])).direct
    array([5.])
    """
    if not 0.0 <= min_ratio <= max_ratio:
        raise ValueError(f"expected 0 <= min_ratio <= max_ratio, got {min_ratio} and {max_ratio}")
    xp = array_namespace(log_ratio, log_probs, advantages)
    weight = xp.clip(xp.exp(log_ratio), min_ratio, max_ratio) * advantages
    return Term(value=weight * log_probs, direct=weight)


def sapo(
    log_ratio: Array, advantages: Array, *, tau_positive: float = 1.0, tau_negative: float = 1.05
) -> Term:
    """A soft gate instead of a hard clip: the slope fades as the ratio leaves 1, and has no cliff.

        sₜ = (4/τ) σ(τ (rₜ - 1)) A,   rₜ = exp(log_ratio),   τ = tau_positive where A > 0, else tau_negative

    The slope is 4 p (1 - p) rₜ A with p = σ(τ (rₜ - 1)): A at rₜ = 1, whatever τ is. A larger τ is a sharper
    gate.

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
    gate = 0.5 + 0.5 * xp.tanh(0.5 * tau * (ratio - 1.0))
    return Term(value=4.0 / tau * gate * advantages, slope=4.0 * gate * (1.0 - gate) * ratio * advantages)


def kl_cov(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    share: float = 0.0002,
    coef: float = 0.1,
) -> Term:
    """Unclipped, but the few tokens that drive entropy down are held back by a penalty on their log-ratio.

        sₜ = rₜ A - coef |log rₜ| [t chosen],    chosen: the highest cov = (A - Ā)(log πθ - mean log πθ)

    Which tokens are chosen is a constant of differentiation. At log rₜ = 0 the penalty's slope is 0.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens; means and choice are over these.
      share: the share of tokens chosen, at least one token; verl's kl_cov_ratio.
      coef: weight of the penalty; verl's ppo_kl_coef.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Cui et al. 2025, KL-Cov (arXiv:2505.22617); verl `compute_policy_loss_kl_cov`.
    """
    xp = array_namespace(log_ratio, log_probs, advantages, mask)
    plain = importance_weighted(log_ratio, advantages)
    covariance = _centred(advantages + xp.zeros_like(log_probs), mask) * _centred(log_probs, mask)
    chosen = _largest(xp.where(is_set(mask), covariance, -xp.inf), mask, share)
    held = coef * xp.astype(chosen, log_ratio.dtype)
    return Term(value=plain.value - held * abs(log_ratio), slope=plain.slope - held * xp.sign(log_ratio))


def _centred(array: Array, mask: Array) -> Array:
    return array - masked_mean(array, mask, axis=BATCH, keepdims=True)


def _largest(scores: Array, mask: Array, share: float) -> Array:
    """True on each batch's highest scores: int(share * tokens) of them, at least one."""
    xp = array_namespace(scores, mask)
    flat = xp.reshape(scores, (*scores.shape[:-3], -1))
    rank = xp.reshape(xp.argsort(xp.argsort(-flat, axis=-1), axis=-1), scores.shape)
    tokens = xp.sum(xp.astype(is_set(mask), scores.dtype), axis=BATCH, keepdims=True)
    return (xp.astype(rank, scores.dtype) < at_least(xp.floor(tokens * share), 1.0)) & (is_set(mask))
