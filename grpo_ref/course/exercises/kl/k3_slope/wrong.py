"""Wrong answers to `kl/k3_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.k3_slope.tests import reference


def _from_v(slope):
    """Return an answer that computes another function of v."""
    return lambda log_probs, ref_log_probs: slope(
        np.asarray(log_probs, float) - np.asarray(ref_log_probs, float)
    )


WRONG = (
    Mutant(
        "opposite sign",
        _from_v(lambda v: np.expm1(-v)),
        "Returns e⁻ᵛ - 1, the slope with the opposite sign.",
    ),
    Mutant(
        "policy and reference exchanged",
        _from_v(lambda v: np.expm1(v)),
        "Returns eᵛ - 1: both the sign of the slope and the sign of the exponent are wrong.",
    ),
    Mutant(
        "exponent without its sign",
        _from_v(lambda v: -np.expm1(v)),
        "Returns 1 - eᵛ, so the sign of the exponent is wrong.",
    ),
    Mutant("slope of k2", _from_v(lambda v: v), "Returns v, which is the slope of k2 = v² / 2."),
    Mutant("slope of k1", _from_v(np.ones_like), "Returns 1 for every token, which is the slope of k1 = v."),
    Mutant("value", _from_v(lambda v: np.expm1(-v) + v), "Returns the value of k3 and not its slope."),
    Mutant(
        "slope of the absolute value", _from_v(np.sign), "Returns the sign of v, which is the slope of |v|."
    ),
    Mutant(
        "rounded",
        _from_v(lambda v: 1 - np.exp(-v)),
        "Subtracts e⁻ᵛ from 1, which loses digits near v = 0; `np.expm1` keeps them.",
    ),
    Mutant(
        "multiplied by the probability",
        lambda a, b: reference(a, b) * np.exp(a),
        "Multiplies the slope by πθ; the derivative is with respect to log πθ.",
    ),
    Mutant(
        "divided by the probability",
        lambda a, b: reference(a, b) / np.exp(a),
        "Divides the slope by πθ, which is the derivative with respect to πθ and not to log πθ.",
    ),
    Mutant(
        "derivative of v forgotten",
        _from_v(lambda v: -np.exp(-v)),
        "Returns -e⁻ᵛ; the derivative of the term + v, which is 1, is missing.",
    ),
    Mutant(
        "inner derivative forgotten",
        _from_v(lambda v: 1 + np.exp(-v)),
        "Returns 1 + e⁻ᵛ; the derivative of e⁻ᵛ is -e⁻ᵛ.",
    ),
    Mutant(
        "slope of the mean",
        lambda a, b: reference(a, b) / np.size(a),
        "Divides every slope by the number of tokens.",
    ),
    Mutant(
        "averaged over all tokens",
        lambda a, b: reference(a, b).mean(),
        "Averages the slopes over all tokens; every token has its own.",
    ),
)
