"""Wrong answers to `kl/estimators`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.estimators.tests import reference


def _with(k1=lambda v: v, k2=lambda v: v**2 / 2):
    """Return an answer with other functions of v."""

    def answer(log_probs, ref_log_probs):
        v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
        return k1(v), k2(v)

    return answer


def _from_probabilities(log_probs, ref_log_probs):
    v = np.log(np.exp(log_probs) / np.exp(ref_log_probs))
    return v, v**2 / 2


WRONG = (
    Mutant(
        "policy and reference exchanged",
        lambda a, b: reference(b, a),
        "Returns log πref - log πθ as k1, so its sign is wrong.",
    ),
    Mutant("k2 without the half", _with(k2=lambda v: v**2), "Returns v² as k2; the half is missing."),
    Mutant(
        "the half squared too",
        _with(k2=lambda v: (v / 2) ** 2),
        "Returns v² / 4 as k2: the half is squared too.",
    ),
    Mutant("k2 not squared", _with(k2=lambda v: v / 2), "Returns v / 2 as k2; v is not squared."),
    Mutant(
        "k3 for k2",
        _with(k2=lambda v: np.expm1(-v) + v),
        "Returns e⁻ᵛ - 1 + v as k2, which is the estimate k3.",
    ),
    Mutant("absolute k1", _with(k1=np.abs), "Returns |v| as k1, so the sign of v is lost."),
    Mutant(
        "ratio for k1",
        _with(k1=np.exp),
        "Returns the ratio πθ/πref as k1, which is the logarithm of the ratio.",
    ),
    Mutant("exchanged", lambda a, b: reference(a, b)[::-1], "Returns k2 first; k1 is expected first."),
    Mutant(
        "averaged over all tokens",
        lambda a, b: tuple(x.mean() for x in reference(a, b)),
        "Averages each estimate over all tokens; every token has its own.",
    ),
    Mutant(
        "averaged over each row",
        lambda a, b: tuple(x.mean(-1) for x in reference(a, b)),
        "Averages each estimate over the tokens of a row; every token has its own.",
    ),
    Mutant(
        "added up over all tokens",
        lambda a, b: tuple(x.sum() for x in reference(a, b)),
        "Adds up each estimate over all tokens; every token has its own.",
    ),
    Mutant(
        "difference of probabilities",
        lambda a, b: reference(np.exp(a), np.exp(b)),
        "Subtracts the probabilities; v is the difference of their logarithms.",
    ),
    Mutant(
        "through the probabilities",
        _from_probabilities,
        "Computes v from the probabilities, which round to 0 for very unlikely tokens.",
    ),
)
