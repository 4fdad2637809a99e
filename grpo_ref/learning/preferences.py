"""A reward model that is learned from preferences between two texts.

    score(x) = w · features(x),    P(a is preferred to b) = σ(score(a) - score(b))

The choices depend on differences of scores only, so the zero of the scores is arbitrary.

Bradley & Terry 1952 (Biometrika 39, 324); for language models Ouyang et al. 2022, eq. 1 (arXiv:2203.02155).
"""

import numpy as np

from grpo_ref.arrays import Bools, Floats


def preferred(first: Floats, second: Floats, uniforms: Floats) -> Bools:
    """Return (M,) True where the first of two texts is preferred, which has probability σ(first - second).

    Args:
      first, second: (M,) values of the two texts, as log-odds in nats.
      uniforms: (M,) numbers in [0, 1).

    >>> preferred(np.zeros(2), np.zeros(2), np.array([0.4, 0.6]))
    array([ True, False])
    """
    return uniforms < _sigmoid(first - second)


def log_likelihood(weights: Floats, differences: Floats, *, prior: float) -> tuple[float, Floats]:
    """Return the mean log-likelihood of the choices, with a normal prior on the weights, and its gradient.

        L(w)  = mean log σ(w·d) - prior |w|² / 2
        ∂L/∂w = mean σ(-w·d) d - prior w

    A choice that is already likely has nearly zero gradient. Without the prior, weights that explain every
    choice would grow for ever.

    Args:
      weights: (F,) w.
      differences: (M, F) d, features of the preferred text minus features of the other text.
      prior: precision of a normal prior around 0, divided by M.

    Returns:
      L, in nats per choice, and its gradient (F,).
    """
    margins = differences @ weights
    value = -np.logaddexp(0.0, -margins).mean() - 0.5 * prior * (weights @ weights)
    return float(value), _sigmoid(-margins) @ differences / len(margins) - prior * weights


def fit(differences: Floats, *, prior: float, steps: int = 1000) -> Floats:
    """Return (F,) the weights that maximize `log_likelihood`, found by gradient ascent from 0.

    Args:
      differences, prior: as in `log_likelihood`.
      steps: number of steps.
    """
    # The step size is 1 / the largest possible curvature, λ/4M + prior, where λ is the largest eigenvalue of
    # dᵀd and 1/4 the largest slope of σ. With it no step overshoots.
    curvature = np.linalg.norm(differences, 2) ** 2 / (4.0 * len(differences)) + prior
    weights = np.zeros(differences.shape[-1])
    for _ in range(steps):
        weights = weights + log_likelihood(weights, differences, prior=prior)[1] / curvature
    return weights


def _sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), in a form that cannot overflow."""
    sigmoid: Floats = 0.5 + 0.5 * np.tanh(0.5 * x)
    return sigmoid
