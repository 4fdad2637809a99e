"""Wrong answers to `kl/k3`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.k3.tests import reference


def _of(formula):
    return lambda log_probs, ref_log_probs: formula(
        np.asarray(log_probs, float) - np.asarray(ref_log_probs, float)
    )


WRONG = (
    Mutant("sign of v", _of(lambda v: np.expm1(v) - v), "v is turned over: log πθ - log πref."),
    Mutant("k1", _of(lambda v: v), "This is k1, the log-ratio itself: it can be negative."),
    Mutant("k2", _of(lambda v: v**2 / 2), "This is k2, half the square: it is biased."),
    Mutant("absolute", _of(np.abs), "This is the absolute log-ratio."),
    Mutant("without -1", _of(lambda v: np.exp(-v) + v), "The -1 is missing: equal policies should give 0."),
    Mutant("minus v", _of(lambda v: np.expm1(-v) - v), "v is added, not subtracted."),
    Mutant(
        "rounded away",
        _of(lambda v: np.exp(-v) - 1.0 + v),
        "exp(-v) - 1 loses small v to rounding; use np.expm1.",
    ),
    Mutant("mean", lambda a, b: reference(a, b).mean(), "One estimate per token is asked for."),
    Mutant(
        "of probabilities",
        lambda a, b: reference(np.exp(a), np.exp(b)),
        "The inputs are log-probabilities already.",
    ),
    Mutant("clamped", _of(lambda v: np.minimum(np.expm1(-v) + v, 0.5)), "Nothing is clamped here."),
)
