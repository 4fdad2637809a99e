"""Wrong answers to `ratios/sapo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.sapo.tests import reference


def _of(value=None, slope=None, tau=None):
    def answer(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        t = (tau or _tau)(a, tau_positive, tau_negative)
        p = 1.0 / (1.0 + np.exp(-t * (r - 1.0)))
        return (value or _value)(r, a, t, p), (slope or _slope)(r, a, t, p)

    return answer


def _tau(a, positive, negative):
    return np.where(a > 0, positive, negative)


def _value(r, a, t, p):
    return 4.0 / t * p * a


def _slope(r, a, t, p):
    return 4.0 * p / (1.0 + np.exp(t * (r - 1.0))) * r * a


def _gated_by_the_logarithm(ratio, advantages, positive, negative):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    t = _tau(a, positive, negative)
    p, q = 1.0 / (1.0 + r**-t), 1.0 / (1.0 + r**t)
    return 4.0 / t * p * a, 4.0 * p * q * r * a


WRONG = (
    Mutant("4/τ forgotten", _of(value=lambda r, a, t, p: p * a), "The factor 4/τ is missing in the value."),
    Mutant(
        "τ forgotten in the value",
        _of(value=lambda r, a, t, p: 4.0 * p * a),
        "The value is divided by τ.",
    ),
    Mutant(
        "gate of the log-ratio",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: _gated_by_the_logarithm(
            r, a, tau_positive, tau_negative
        ),
        "The gate looks at r - 1, not at log r.",
    ),
    Mutant(
        "slope first",
        lambda *inputs, **named: reference(*inputs, **named)[::-1],
        "The value comes first, then the slope.",
    ),
    Mutant(
        "divided by τ",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: reference(r, a, 1 / tau_positive, 1 / tau_negative),
        "The gate multiplies by τ; dividing makes a large τ soft instead of sharp.",
    ),
    Mutant(
        "temperatures swapped",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: reference(r, a, tau_negative, tau_positive),
        "tau_positive belongs to A > 0.",
    ),
    Mutant("one temperature", _of(tau=lambda a, x, y: x), "tau_negative is not used."),
    Mutant(
        "digits lost",
        _of(slope=lambda r, a, t, p: 4.0 * p * (1.0 - p) * r * a),
        "Far above 1 the slope loses its digits in 1 - σ(x); σ(-x) is the same number and keeps them.",
    ),
    Mutant(
        "slope in r",
        _of(slope=lambda r, a, t, p: _slope(r, a, t, p) / r),
        "This is the slope with respect to r; with respect to log r it is r times that.",
    ),
    Mutant(
        "slope is the value",
        _of(slope=_value),
        "The slope is not the value: the gate moves with the ratio.",
    ),
    Mutant("slope of the ratio", _of(slope=lambda r, a, t, p: r * a), "This is the slope without a gate."),
    Mutant(
        "a ratio inside",
        _of(value=lambda r, a, t, p: 4.0 / t * p * r * a),
        "The gate stands for the ratio; it is not multiplied by it once more.",
    ),
    Mutant(
        "gate turned over for bad tokens",
        _of(value=lambda r, a, t, p: 4.0 / t * np.where(a > 0, p, 1 - p) * a),
        "The gate is the same for both signs; only τ differs.",
    ),
    Mutant(
        "τ twice in the slope",
        _of(slope=lambda r, a, t, p: t * _slope(r, a, t, p)),
        "The τ of the chain rule cancels the one in 4/τ.",
    ),
)
