"""Wrong answers to `kl/estimators`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.estimators.tests import reference


def _of(k1=None, k2=None):
    def answer(log_probs, ref_log_probs):
        v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
        return (k1 or (lambda v: v))(v), (k2 or (lambda v: v**2 / 2))(v)

    return answer


WRONG = (
    Mutant("v turned over", lambda a, b: reference(b, a), "v is log πθ - log πref; it is turned over here."),
    Mutant("k2 without the half", _of(k2=lambda v: v**2), "k2 is half the square."),
    Mutant("k3 for k2", _of(k2=lambda v: np.expm1(-v) + v), "This is k3, not k2."),
    Mutant("absolute k1", _of(k1=np.abs), "k1 keeps its sign: it can be negative."),
    Mutant("ratio for k1", _of(k1=np.exp), "k1 is the logarithm of the ratio."),
    Mutant("swapped", lambda a, b: reference(a, b)[::-1], "k1 comes first."),
    Mutant(
        "means",
        lambda a, b: tuple(x.mean() for x in reference(a, b)),
        "One estimate per token is asked for.",
    ),
    Mutant(
        "of probabilities",
        lambda a, b: reference(np.exp(a), np.exp(b)),
        "The inputs are log-probabilities already.",
    ),
)
