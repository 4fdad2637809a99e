"""Wrong answers to `kl/k3_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.k3_slope.tests import reference


def _of(formula):
    return lambda log_probs, ref: formula(np.asarray(log_probs, float) - np.asarray(ref, float))


WRONG = (
    Mutant(
        "sign",
        _of(lambda v: np.expm1(-v)),
        "The sign is turned over: a token likelier than in the reference has a positive slope.",
    ),
    Mutant(
        "in the reference",
        _of(lambda v: np.expm1(v)),
        "v is turned over in the exponent: e⁻ᵛ, with v = log πθ - log πref.",
    ),
    Mutant(
        "slope of k2",
        _of(lambda v: v),
        "This is the slope of k2 = v²/2, which is the unbiased one, but k3 is asked for.",
    ),
    Mutant("slope of k1", _of(np.ones_like), "This is the slope of k1."),
    Mutant("value", _of(lambda v: np.expm1(-v) + v), "This is k3 itself."),
    Mutant("slope of the absolute value", _of(np.sign), "This is the slope of |v|."),
    Mutant(
        "rounded away",
        _of(lambda v: 1 - np.exp(-v)),
        "1 - exp(-v) loses small v to rounding; use np.expm1.",
    ),
    Mutant(
        "times the probability",
        lambda a, b: reference(a, b) * np.exp(a),
        "There is no factor π: the slope is in log πθ.",
    ),
    Mutant("constant forgotten", _of(lambda v: -np.exp(-v)), "The derivative of v itself, 1, is missing."),
)
