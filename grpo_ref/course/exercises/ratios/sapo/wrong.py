"""Wrong answers to `ratios/sapo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.sapo.tests import reference


def right_gate(r, tau):
    return tau * (r - 1)


def right_value(r, a, tau, p, q):
    return 4 / tau * p * a


def right_slope(r, a, tau, p, q):
    return 4 * p * q * r * a


def answer(*, gate=right_gate, value=right_value, slope=right_slope):
    """Return an answer with another argument of σ, another value or another slope.

    Args:
      gate: function of r and τ that returns the argument x of σ.
      value: function of r, A, τ, p = σ(x) and q = σ(-x).
      slope: function of the same numbers.
    """

    def function(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        tau = np.where(a > 0, tau_positive, tau_negative)
        x = gate(r, tau)
        p, q = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))
        return value(r, a, tau, p, q), slope(r, a, tau, p, q)

    return function


WRONG = (
    Mutant(
        "no 4/τ in the value",
        answer(value=lambda r, a, tau, p, q: p * a),
        "Returns σ A as the value; the factor 4/τ is missing.",
    ),
    Mutant(
        "no 4/τ at all",
        answer(value=lambda r, a, tau, p, q: p * a, slope=lambda r, a, tau, p, q: tau * p * q * r * a),
        "Omits the factor 4/τ in the value and in the slope.",
    ),
    Mutant(
        "no τ in the value",
        answer(value=lambda r, a, tau, p, q: 4 * p * a),
        "Multiplies the value by 4; the factor is 4/τ.",
    ),
    Mutant(
        "no inner derivative",
        answer(slope=lambda r, a, tau, p, q: 4 / tau * p * q * r * a),
        "Keeps 4/τ in the slope; the chain rule gives a factor τ, so 4 remains.",
    ),
    Mutant(
        "τ too often in the slope",
        answer(slope=lambda r, a, tau, p, q: tau * 4 * p * q * r * a),
        "Returns τ times the slope; the τ of the chain rule cancels that of 4/τ.",
    ),
    Mutant(
        "slope with respect to r",
        answer(slope=lambda r, a, tau, p, q: 4 * p * q * a),
        "Returns the slope with respect to r; with respect to log r there is another factor r.",
    ),
    Mutant(
        "1 - σ by subtraction",
        answer(slope=lambda r, a, tau, p, q: 4 * p * (1 - p) * r * a),
        "Computes 1 - σ(x) by subtraction, which loses its digits far above 1; use σ(-x).",
    ),
    Mutant(
        "σ for 1 - σ",
        answer(slope=lambda r, a, tau, p, q: 4 * p * p * r * a),
        "Uses σ(x)² in the slope; the derivative of σ is σ(x) (1 - σ(x)).",
    ),
    Mutant(
        "slope is the value",
        answer(slope=right_value),
        "Returns the value as the slope too; the gate also changes with r.",
    ),
    Mutant(
        "slope without a gate",
        answer(slope=lambda r, a, tau, p, q: r * a),
        "Returns r A as the slope, which is the slope without a gate.",
    ),
    Mutant(
        "slope without A",
        answer(slope=lambda r, a, tau, p, q: 4 * p * q * r),
        "Omits the factor A in the slope.",
    ),
    Mutant(
        "gate of the log-ratio",
        answer(gate=lambda r, tau: tau * np.log(r)),
        "Uses τ log r as the argument of σ; it is τ (r - 1).",
    ),
    Mutant(
        "gate of the log-ratio and its slope",
        answer(gate=lambda r, tau: tau * np.log(r), slope=lambda r, a, tau, p, q: 4 * p * q * a),
        "Uses τ log r as the argument of σ, in the value and in the derivative; it is τ (r - 1).",
    ),
    Mutant(
        "gate of the ratio",
        answer(gate=lambda r, tau: tau * r),
        "Uses τ r as the argument of σ; it is τ (r - 1).",
    ),
    Mutant(
        "gate reversed",
        answer(gate=lambda r, tau: tau * (1 - r)),
        "Uses τ (1 - r) as the argument of σ, so the value falls with r; it is τ (r - 1).",
    ),
    Mutant(
        "divided by τ",
        answer(gate=lambda r, tau: (r - 1) / tau),
        "Divides r - 1 by τ in the argument of σ; multiply it by τ.",
    ),
    Mutant(
        "gate times the ratio",
        answer(value=lambda r, a, tau, p, q: 4 / tau * p * r * a),
        "Multiplies the value by r; r is only in the argument of σ.",
    ),
    Mutant(
        "gate reversed for bad tokens",
        answer(value=lambda r, a, tau, p, q: 4 / tau * np.where(a > 0, p, q) * a),
        "Uses 1 - σ for bad tokens; the formula is the same for all tokens, only τ differs.",
    ),
    Mutant(
        "τ swapped",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: reference(r, a, tau_negative, tau_positive),
        "Swaps tau_positive and tau_negative; tau_positive is for A > 0.",
    ),
    Mutant(
        "tau_positive for all",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: reference(r, a, tau_positive, tau_positive),
        "Uses tau_positive for all tokens; where A is not positive, τ is tau_negative.",
    ),
    Mutant(
        "tau_negative for all",
        lambda r, a, tau_positive=1.0, tau_negative=1.05: reference(r, a, tau_negative, tau_negative),
        "Uses tau_negative for all tokens; where A > 0, τ is tau_positive.",
    ),
    Mutant(
        "slope first",
        lambda *inputs, **named: reference(*inputs, **named)[::-1],
        "Returns the slope first; the value comes first.",
    ),
    Mutant(
        "opposite sign",
        lambda *inputs, **named: tuple(-part for part in reference(*inputs, **named)),
        "Returns minus the value and minus the slope, which belong to the loss.",
    ),
)
