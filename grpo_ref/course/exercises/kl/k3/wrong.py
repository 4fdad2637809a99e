"""Wrong answers to `kl/k3`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.k3.tests import reference


def _from_v(estimate):
    """Return an answer that computes another function of v."""
    return lambda log_probs, ref_log_probs: estimate(
        np.asarray(log_probs, float) - np.asarray(ref_log_probs, float)
    )


ROUNDED = "Computes e⁻ᵛ - 1 + v by plain subtraction, which loses digits near v = 0; `np.expm1` keeps them."

WRONG = (
    Mutant(
        "policy and reference exchanged",
        _from_v(lambda v: np.expm1(v) - v),
        "Takes log πref - log πθ as v, so the sign of v is wrong.",
    ),
    Mutant(
        "exponent without its sign",
        _from_v(lambda v: np.expm1(v) + v),
        "Returns eᵛ - 1 + v; the minus sign of the exponent is missing.",
    ),
    Mutant("k1", _from_v(lambda v: v), "Returns v itself, which is the estimate k1."),
    Mutant("k2", _from_v(lambda v: v**2 / 2), "Returns v² / 2, which is the estimate k2."),
    Mutant("absolute", _from_v(np.abs), "Returns the absolute value of v."),
    Mutant(
        "without -1",
        _from_v(lambda v: np.exp(-v) + v),
        "Returns e⁻ᵛ + v; the -1 is missing, so equal models get 1.",
    ),
    Mutant(
        "minus v",
        _from_v(lambda v: np.expm1(-v) - v),
        "Subtracts v from e⁻ᵛ - 1; v is added.",
    ),
    Mutant("without v", _from_v(lambda v: np.expm1(-v)), "Returns e⁻ᵛ - 1; the term + v is missing."),
    Mutant("subtracts 1 first", _from_v(lambda v: np.exp(-v) - 1.0 + v), ROUNDED),
    Mutant("subtracts 1 last", _from_v(lambda v: np.exp(-v) + v - 1.0), ROUNDED),
    Mutant("subtracts 1 - v", _from_v(lambda v: np.exp(-v) - (1.0 - v)), ROUNDED),
    Mutant(
        "averaged over all tokens",
        lambda a, b: reference(a, b).mean(),
        "Averages the estimates over all tokens; every token has its own.",
    ),
    Mutant(
        "averaged over each row",
        lambda a, b: reference(a, b).mean(-1),
        "Averages the estimates over the tokens of a row; every token has its own.",
    ),
    Mutant(
        "difference of probabilities",
        lambda a, b: reference(np.exp(a), np.exp(b)),
        "Subtracts the probabilities; v is the difference of their logarithms.",
    ),
    Mutant(
        "multiplied by the probability",
        lambda a, b: reference(a, b) * np.exp(a),
        "Multiplies the estimate by πθ; the estimate has no weight.",
    ),
    Mutant(
        "estimate limited",
        _from_v(lambda v: np.clip(np.expm1(-v) + v, -10.0, 10.0)),
        "Limits the estimate to 10; it has no limit.",
    ),
    Mutant(
        "v limited",
        _from_v(lambda v: np.expm1(-np.clip(v, -20.0, 20.0)) + np.clip(v, -20.0, 20.0)),
        "Limits v to the range from -20 to 20; v has no limit.",
    ),
)
