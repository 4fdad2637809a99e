"""Laws that predict the reward of a run from its start: linear in exp(H), the entropy H, or log(update).

R = -a exp(H) + b        the law of Cui et al. 2025 (arXiv:2505.22617)
R = -a H + b
R = a log(update) + b
"""

import math
from collections.abc import Callable

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Measures

LAWS = ("exp(H)", "H", "log(update)")
FITTED = 0.15
"""Share of the run from which the law is fitted: the paper's 36 of about 240 steps."""
CLOSE, BETTER = 0.03, 0.01
"""An error that is small, and a difference of errors that matters; the paper's errors are about 0.01."""


def predicted_by_laws(reward: Floats, entropy: Floats) -> Measures:
    """Fit each law on the first part of every run, and measure how well it predicts the rest.

    Args:
      reward: (S, U) expected reward after each update.
      entropy: (S, U) entropy in nats per token.

    Returns:
      For each law, "off, LAW" (S, U), law minus run, and "error, LAW" (S,), its root mean square over the
      updates that were not fitted. For the exponential law also "error, half fitted", the error of the fit
      to half of the run, and "missed", the distance of its value at H = 0 from the mean of the last fifth.
      "excess over LAW" is the error of the exponential law minus that of another law. "within" is 1 where
      the error of the exponential law is below `CLOSE`, else 0.
    """
    updates = np.broadcast_to(np.arange(1.0, entropy.shape[-1] + 1.0), entropy.shape)
    inputs = dict(zip(LAWS, (np.exp(entropy), entropy, np.log(updates)), strict=True))
    measures, half = {}, {}
    for law, x in inputs.items():
        measures[f"off, {law}"] = fitted_line(x, reward, FITTED)(x) - reward
        measures[f"error, {law}"] = _error(measures[f"off, {law}"], FITTED)
        half[law] = _error(fitted_line(x, reward, 0.5)(x) - reward, 0.5)
    exponential = measures["error, exp(H)"]
    ceiling = fitted_line(inputs["exp(H)"], reward, FITTED)(np.ones((len(reward), 1)))[:, 0]
    last = max(round(0.2 * reward.shape[-1]), 1)
    return measures | {
        "within": (exponential < CLOSE).astype(np.float64),
        "excess over H": exponential - measures["error, H"],
        "excess over log(update)": exponential - measures["error, log(update)"],
        "error, half fitted": half["exp(H)"],
        "excess over H, half fitted": half["exp(H)"] - half["H"],
        "missed": abs(ceiling - reward[:, -last:].mean(-1)),
        "entropy at the start": entropy[:, 0],
    }


def _error(off: Floats, fitted: float) -> Floats:
    rest = off[:, _number_fitted(off, fitted) :]
    error: Floats = np.sqrt((rest**2).mean(-1))
    return error


def _number_fitted(curve: Floats, fitted: float) -> int:
    """Return the number of updates that are fitted, at least the 2 that a line needs."""
    return max(math.ceil(fitted * int(curve.shape[-1])), 2)


def fitted_line(x: Floats, y: Floats, fitted: float) -> Callable[[Floats], Floats]:
    """Return the least squares line of the first part of each run, as a function of x (S, ...).

    The line is the mean of y if x does not change.

    Args:
      x, y: (S, U) over updates.
      fitted: share of the updates that are fitted.

    >>> line = fitted_line(np.array([[1.0, 2.0, 5.0]]), np.array([[3.0, 5.0, 0.0]]), 0.6)
    >>> line(np.array([[10.0]])).tolist()
    [[21.0]]
    """
    first = _number_fitted(x, fitted)
    x_mean, y_mean = (part[:, :first].mean(-1, keepdims=True) for part in (x, y))
    # Both are centered: where x does not change, its rounding error must not become a slope.
    x_part, y_part = (x - x_mean)[:, :first], (y - y_mean)[:, :first]
    together, alone = ((x_part * one).sum(-1, keepdims=True) for one in (y_part, x_part))
    slope = together / np.where(alone > 0.0, alone, 1.0)
    return lambda at: y_mean + slope * (at - x_mean)
