"""A reward model that is learned from preferences: which of two texts does somebody like better?

    score(x) = w · features(x),    P(a is liked better than b) = σ(score(a) - score(b))

Only differences of scores show in the choices, so a score has no zero of its own.

Bradley & Terry 1952 (Biometrika 39, 324); for language models Ouyang et al. 2022, eq. 1 (arXiv:2203.02155).
"""

import numpy as np

from grpo_ref.arrays import Bools, Floats


def preferred(first: Floats, second: Floats, uniforms: Floats) -> Bools:
    """(M,) Is the first of two texts liked better? It is with probability σ(first - second).

    Args:
      first, second: (M,) what the two are worth, in nats of odds.
      uniforms: (M,) numbers in [0, 1).

    >>> preferred(np.zeros(2), np.zeros(2), np.array([0.4, 0.6]))
    array([ True, False])
    """
    return uniforms < _sigmoid(first - second)


def log_likelihood(weights: Floats, differences: Floats, *, prior: float) -> tuple[float, Floats]:
    """How well the scores explain the choices, and the slope of that.

        L(w)  = mean log σ(w·d) - prior |w|² / 2
        ∂L/∂w = mean σ(-w·d) d - prior w

    A choice that the scores find likely pulls no more. Without the prior nothing would hold the weights where
    they explain every choice: they would grow for ever.

    Args:
      weights: (F,) w.
      differences: (M, F) d, features of the text that was liked better minus those of the other one.
      prior: precision of a normal prior around 0, divided by M.

    Returns:
      L, in nats per choice, and its slope (F,).
    """
    margins = differences @ weights
    value = -np.logaddexp(0.0, -margins).mean() - 0.5 * prior * (weights @ weights)
    return float(value), _sigmoid(-margins) @ differences / len(margins) - prior * weights


def fit(differences: Floats, *, prior: float, steps: int = 1000) -> Floats:
    """(F,) the weights of the greatest `log_likelihood`, uphill from 0.

    Each step is one slope over the greatest curvature that there can be, λ/4M + prior, λ being the greatest
    eigenvalue of dᵀd: then no step goes too far.

    Args:
      differences, prior: as in `log_likelihood`.
      steps: how many.
    """
    curvature = np.linalg.norm(differences, 2) ** 2 / (4.0 * len(differences)) + prior
    weights = np.zeros(differences.shape[-1])
    for _ in range(steps):
        weights = weights + log_likelihood(weights, differences, prior=prior)[1] / curvature
    return weights


def _sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), which never overflows in this form."""
    sigmoid: Floats = 0.5 + 0.5 * np.tanh(0.5 * x)
    return sigmoid
