"""Penalties: how far is the policy from its reference, estimated from the sampled tokens?

Write v = log πθ(t) - log πref(t) for a sampled token. At one position, the mean of v under πθ is
KL(πθ ‖ πref). But training uses the gradient of the *estimate*, and for some estimators its mean is not the
gradient of this KL. "Unbiased" below refers to the KL at one position, given the tokens before it, and not to
the KL of whole completions.

| estimator            | value           | derivative in log πθ | on-policy, the expected gradient is        |
|----------------------|-----------------|----------------------|--------------------------------------------|
| k1                   | v               | 1                    | 0                                          |
| k2 (also called mse) | v² / 2          | v                    | that of KL(πθ ‖ πref): unbiased            |
| k3 (low_var_kl)      | e⁻ᵛ - 1 + v     | 1 - e⁻ᵛ              | that of KL(πref ‖ πθ), the other way round |
| absolute             | abs v           | sign v               | twice that of the total variation          |
| weighted_k1          | r v             | r (1 + v)            | unbiased, off-policy too                   |
| weighted_k3          | r (e⁻ᵛ - 1 + v) | r v                  | unbiased, off-policy too                   |
| straight_through     | any             | v                    | unbiased                                   |

r is the importance ratio πθ/πold. Values are non-negative for k2, k3 and absolute. The estimates are in
nats per token. Schulman 2020, "Approximating KL divergence", names k1, k2 and k3.
"""

import math
from collections.abc import Callable

from grpo_ref.arrays import Array, array_namespace, clamp, is_inside
from grpo_ref.types import Term

SERIES_BELOW = 1e-3
"""For |v| below this, four terms of the series of e⁻ᵛ - 1 + v are exact to 3e-15; expm1(-v) + v is not."""


def exact_kl(all_log_probs: Array, ref_all_log_probs: Array) -> Term:
    """The KL itself, summed over the whole vocabulary. Its slope is with respect to the logits.

        KL = Σₐ πₐ (log πₐ - log refₐ),    ∂KL/∂logitₐ = πₐ (log πₐ - log refₐ - KL)

    Args:
      all_log_probs: (..., V) log πθ of every token, in nats. -inf (a banned token) contributes 0.
      ref_all_log_probs: (..., V) the same under the reference; -inf only where πθ is 0 too, else the KL is
        inf.

    Returns:
      Term of two arrays: the value, (...,) in nats, and the slope, (..., V), which is ∂KL/∂logits of πθ. In
      all other Terms the slope is ∂value/∂log_ratio, so this function cannot be the penalty of a recipe.
    """
    xp = array_namespace(all_log_probs, ref_all_log_probs)
    probs = xp.exp(all_log_probs)
    possible = probs > 0.0
    log_ratio = xp.where(possible, all_log_probs, 0.0) - xp.where(possible, ref_all_log_probs, 0.0)
    value = xp.sum(probs * log_ratio, axis=-1)
    return Term(value=value, slope=probs * (log_ratio - value[..., None]))


def k1(log_probs: Array, ref_log_probs: Array, *, max_log_ratio: float = math.inf) -> Term:
    """The log-ratio to the reference: unbiased as a value, but its expected gradient is zero.

        k1 = v,   v = log πθ - log πref

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      max_log_ratio: v is limited to ± this; the derivative is 0 beyond it. Open Instruct uses 40.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    verl and RLinf "kl" / "k1"; Open Instruct estimator 0.
    """
    v = log_probs - ref_log_probs
    xp = array_namespace(v)
    return Term(value=clamp(v, max_log_ratio), direct=_derivative_inside(xp.ones_like(v), v, max_log_ratio))


def k2(log_probs: Array, ref_log_probs: Array, *, max_log_ratio: float = math.inf) -> Term:
    """Half the squared log-ratio: biased as a value, but its on-policy gradient is exactly that of the KL.

        k2 = v² / 2,   v = log πθ - log πref

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      max_log_ratio: as in `k1`.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    verl and RLinf "mse" / "k2"; Open Instruct estimator 1.
    """
    v = log_probs - ref_log_probs
    clamped_log_ratio = clamp(v, max_log_ratio)
    direct = _derivative_inside(clamped_log_ratio, v, max_log_ratio)
    return Term(value=0.5 * clamped_log_ratio**2, direct=direct)


mse = k2
"""verl's and RLinf's name for `k2`."""


def k3(
    log_probs: Array, ref_log_probs: Array, *, max_log_ratio: float = math.inf, max_value: float = math.inf
) -> Term:
    """Unbiased, never negative and of low variance as a value; its gradient is that of KL(πref ‖ πθ).

        k3 = e⁻ᵛ - 1 + v,   v = log πθ - log πref

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      max_log_ratio: v is limited to ± this; none in TRL, 20 in verl and RLinf, 40 in Open Instruct.
      max_value: upper limit of the value, applied after max_log_ratio; none in TRL and Open Instruct, 10 in
        verl and RLinf. The derivative is 0 beyond either limit.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    DeepSeekMath, eq. 4 (arXiv:2402.03300); TRL `GRPOTrainer._compute_loss`; verl "low_var_kl"; Open Instruct
    estimator 2.
    """
    v = log_probs - ref_log_probs
    clamped_log_ratio = clamp(v, max_log_ratio)
    value = _k3_value(clamped_log_ratio)
    derivative = _derivative_inside(-array_namespace(v).expm1(-clamped_log_ratio), v, max_log_ratio)
    return Term(value=clamp(value, max_value), direct=_derivative_inside(derivative, value, max_value))


def absolute(log_probs: Array, ref_log_probs: Array, *, max_log_ratio: float = math.inf) -> Term:
    """The absolute log-ratio: robust, with the gradient of a total variation. At v = 0 the derivative is 0.

        |v|,   v = log πθ - log πref

    On average over the policy's own tokens, the gradient is twice that of the total variation
    Σₐ |πθ(a) - πref(a)| / 2.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      max_log_ratio: as in `k1`.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    verl and RLinf "abs".
    """
    v = log_probs - ref_log_probs
    xp = array_namespace(v)
    return Term(value=abs(clamp(v, max_log_ratio)), direct=_derivative_inside(xp.sign(v), v, max_log_ratio))


def weighted_k1(
    log_probs: Array, ref_log_probs: Array, log_ratio: Array, *, max_log_ratio: float = math.inf
) -> Term:
    """k1 times the importance ratio, both differentiated: unbiased at a position, off-policy too.

        r v,   r = exp(log_ratio),  v = log πθ - log πref

    Value and gradient are unbiased for the KL at one position, given the tokens before it. They are not for
    the KL of whole completions, whose positions are those of the policy that sampled.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      max_log_ratio: as in `k1`.

    Returns:
      Term of (P, G, T) arrays; `slope` is r v, and `direct` is r.

    Open Instruct `estimate_kl`, estimator 3.
    """
    return _weighted(k1(log_probs, ref_log_probs, max_log_ratio=max_log_ratio), log_ratio)


def weighted_k3(log_probs: Array, ref_log_probs: Array, log_ratio: Array) -> Term:
    """k3 times the importance ratio, both differentiated: unbiased at a position, off-policy too.

        r (e⁻ᵛ - 1 + v),   r = exp(log_ratio),  v = log πθ - log πref

    At the token level, `slope` and `direct` add up to r v. On-policy, the value is that of k3, but the
    gradient is not. As for `weighted_k1`, "unbiased" refers to one position.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `slope` and `direct`.

    DeepSeek-V3.2 (arXiv:2512.02556); TRL `use_bias_correction_kl`, on by default since 1.16.0.
    """
    return _weighted(k3(log_probs, ref_log_probs), log_ratio)


def straight_through(
    log_probs: Array, ref_log_probs: Array, *, estimator: Callable[[Array, Array], Term] = k3
) -> Term:
    """The value of one estimator with the gradient of k2, which is unbiased at a position.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      estimator: a kernel (a plain function that a recipe uses as a part). It gives the value.

    Returns:
      Term of (P, G, T) arrays; `direct` is v = log πθ - log πref.

    verl `kl_penalty` with "k1+", "k3+" or "abs+".
    """
    return Term(value=estimator(log_probs, ref_log_probs).value, direct=log_probs - ref_log_probs)


def to_teacher(log_probs: Array, teacher_log_probs: Array, *, estimator: Callable[..., Term] = k2) -> Term:
    """An estimate of KL(πθ ‖ π_teacher) as a loss term: on-policy distillation without an advantage.

        estimator(v),   v = log πθ - log π_teacher

    On the policy's own tokens, the expected gradient depends on the estimator, as in the table above. With k2
    it is that of the reverse KL. With k3 it is that of KL(π_teacher ‖ πθ). With k1 it is 0, and the teacher's
    numbers do not enter the gradient at all.

    Args:
      log_probs, teacher_log_probs: (P, G, T) in nats; the teacher is constant with respect to θ.
      estimator: a penalty of (log_probs, ref_log_probs), or such a part of a recipe. verl's
        `distillation_loss.loss_mode` names it, k3 by default; TRL's `SDPOTrainer` has the gradient of k2,
        AReaL's joint loss the gradient of k1.

    Returns:
      Term of (P, G, T) arrays, that of the estimator.

    verl `compute_distillation_loss_reverse_kl_estimator`, with `use_policy_gradient=False`.

    >>> import numpy as np
    >>> to_teacher(np.log(np.array([0.5])), np.log(np.array([0.25]))).direct.round(3)    # log 2
    array([0.693])
    """
    return estimator(log_probs=log_probs, ref_log_probs=teacher_log_probs)


def no_penalty(log_probs: Array) -> Term:
    """No penalty, and no reference: the value and its derivative are 0.

    Args:
      log_probs: (P, G, T); only its shape is used.
    """
    return Term(value=array_namespace(log_probs).zeros_like(log_probs))


def _k3_value(v: Array) -> Array:
    """e⁻ᵛ - 1 + v, exact near 0 too. There it is about v²/2, and expm1(-v) + v would lose most digits."""
    xp = array_namespace(v)
    is_small = abs(v) < SERIES_BELOW
    small = xp.where(is_small, v, 0.0)
    series = 0.5 * small**2 * (1.0 - small / 3.0 * (1.0 - small / 4.0 * (1.0 - small / 5.0)))
    return xp.where(is_small, series, xp.expm1(-v) + v)


def _weighted(term: Term, log_ratio: Array) -> Term:
    ratio = array_namespace(log_ratio).exp(log_ratio)
    return Term(value=ratio * term.value, slope=ratio * term.value, direct=ratio * term.direct)


def _derivative_inside(derivative: Array, value: Array, limit: float) -> Array:
    """Derivative of clamp(value): that of the value inside the limits, 0 outside."""
    if math.isinf(limit):
        return derivative
    xp = array_namespace(derivative, value)
    return xp.where(is_inside(value, limit), derivative, 0.0)
