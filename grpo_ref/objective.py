"""The form of GRPO in problem sets: the objective of one group in one function, complete in itself."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]
LOG_OFFSET = 1e-10


def grpo_objective(
    rhos: Numbers,
    A: Numbers,
    pi_theta_old: Numbers,
    pi_theta_ref: Numbers,
    epsilon: float = 0.2,
    beta: float = 0.01,
) -> float:
    """Clipped surrogate of one group minus an explicit KL penalty; larger is better.

        J = 1/G Σᵢ min(ρᵢ Aᵢ, clip(ρᵢ, 1-ε, 1+ε) Aᵢ) - β KL(p ‖ q)
        KL(p ‖ q) = Σᵢ pᵢ log(pᵢ/qᵢ + 1e-10),   p = ρ πold / Σ ρ πold,   q = πref / Σ πref

    The KL treats the G sampled outcomes as the only outcomes of a distribution, p for the policy and q for
    the reference. Trainers compute another objective, see `grpo_ref.loss`: they take one ratio for each token
    and estimate the KL token by token. Because of the 1e-10 inside the logarithm, equal policies give a KL of
    about 1e-10, not 0.

    Args:
      rhos: ρᵢ = πθ(oᵢ)/πold(oᵢ), length G, not negative.
      A: advantages, length G.
      pi_theta_old: πold(oᵢ), length G, not negative; need not sum to 1.
      pi_theta_ref: πref(oᵢ), length G, positive; need not sum to 1.
      epsilon: half-width of the clip range, 0 <= epsilon < 1.
      beta: weight of the KL, in objective units per nat, not negative.

    Returns:
      The objective as a Python float.

    Raises:
      ValueError: if lengths differ, an input is empty, not one-dimensional or not finite, a ratio or
        probability is negative, a distribution sums to zero, a reference probability is zero, or epsilon or
        beta is out of range.

    >>> round(grpo_objective([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5]), 6)
    1.032749
    """
    ratio, advantage, old, ref = _checked(
        rhos=rhos, A=A, pi_theta_old=pi_theta_old, pi_theta_ref=pi_theta_ref
    )
    if not 0.0 <= epsilon < 1.0:
        raise ValueError(f"epsilon: expected 0 <= epsilon < 1, got {epsilon}")
    if not 0.0 <= beta < np.inf:
        raise ValueError(f"beta: expected a finite number >= 0, got {beta}")
    clipped_ratio = np.minimum(np.maximum(ratio, 1.0 - epsilon), 1.0 + epsilon)
    surrogate = np.minimum(ratio * advantage, clipped_ratio * advantage).sum() / ratio.size
    with np.errstate(over="ignore"):
        policy = _normalized("rhos * pi_theta_old", ratio * old)
    reference = _normalized("pi_theta_ref", ref)
    kl = (policy * np.log(policy / reference + LOG_OFFSET)).sum()
    return float(surrogate - beta * kl)


def _checked(**inputs: Numbers) -> list[NDArray[np.float64]]:
    """Return the inputs as float64 arrays; raise a ValueError that names a bad one."""
    arrays = {name: _as_vector(name, values) for name, values in inputs.items()}
    if len({array.size for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{name} {array.size}" for name, array in arrays.items())
        raise ValueError(f"expected one common length, got {lengths}")
    for name in ("rhos", "pi_theta_old", "pi_theta_ref"):
        if arrays[name].min() < 0.0:
            raise ValueError(
                f"{name}: expected no negative values, got {_first_bad(arrays[name], arrays[name] < 0.0)}"
            )
    zero = arrays["pi_theta_ref"] == 0.0
    if zero.any():
        raise ValueError(
            f"pi_theta_ref: expected positive values, got {_first_bad(arrays['pi_theta_ref'], zero)}: the KL"
            " divides by the reference, so it is infinite if the reference gives an outcome probability 0"
        )
    return list(arrays.values())


def _as_vector(name: str, values: Numbers) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected a sequence of numbers, got {values!r}") from error
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name}: expected a non-empty one-dimensional sequence, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite values, got {_first_bad(array, ~np.isfinite(array))}")
    return array


def _first_bad(array: NDArray[np.float64], bad: NDArray[np.bool_]) -> str:
    index = int(np.argmax(bad))
    return f"{array[index]} at index {index}"


def _normalized(name: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total = weights.sum()
    if not 0.0 < total < np.inf:
        raise ValueError(f"{name}: expected a distribution with a positive, finite sum, got a sum of {total}")
    distribution: NDArray[np.float64] = weights / total
    return distribution
