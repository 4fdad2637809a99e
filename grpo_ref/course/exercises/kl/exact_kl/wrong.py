"""Wrong answers to `kl/exact_kl`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.exact_kl.tests import reference


def _with_logarithms(kl):
    """Return an answer that combines π, πref and the logarithms log(π / πref) in another way. The logarithm
    is 0 where π is 0.
    """

    def answer(probs, ref_probs):
        p, q = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
        return kl(p, q, np.log(np.where(p > 0, p, 1.0)) - np.log(np.where(p > 0, q, 1.0)))

    return answer


WRONG = (
    Mutant(
        "exchanged",
        lambda p, q: reference(q, p),
        "Returns KL(πref ‖ π): policy and reference are exchanged.",
    ),
    Mutant(
        "NaN for zeros",
        lambda p, q: (np.asarray(p) * np.log(np.divide(p, q))).sum(-1),
        "Multiplies 0 by log 0 where πₐ is 0, which gives NaN; such a token adds 0.",
    ),
    Mutant(
        "bits",
        lambda p, q: reference(p, q) / np.log(2.0),
        "Returns the KL in bits, as with `np.log2`; the logarithm is the natural one.",
    ),
    Mutant(
        "mean for sum",
        lambda p, q: reference(p, q) / np.shape(p)[-1],
        "Averages the terms over the vocabulary; they are summed.",
    ),
    Mutant("opposite sign", lambda p, q: -reference(p, q), "Returns the KL with the opposite sign."),
    Mutant(
        "sum over all rows",
        lambda p, q: np.sum(reference(p, q)),
        "Adds up the KL of all rows; each row has its own.",
    ),
    Mutant(
        "mean over all rows",
        lambda p, q: np.mean(reference(p, q)),
        "Averages the KL over all rows; each row has its own.",
    ),
    Mutant(
        "sum over the first axis",
        _with_logarithms(lambda p, q, logs: (p * logs).sum(0)),
        "Sums over the first axis; the vocabulary is the last axis.",
    ),
    Mutant(
        "cross-entropy",
        lambda p, q: -(np.asarray(p) * np.log(np.maximum(q, 1e-300))).sum(-1),
        "Returns the cross-entropy -Σ πₐ log πrefₐ; the term Σ πₐ log πₐ is missing.",
    ),
    Mutant(
        "1e-12 in both",
        lambda p, q: (np.asarray(p) * np.log((np.asarray(p) + 1e-12) / (np.asarray(q) + 1e-12))).sum(-1),
        "Adds 1e-12 to both probabilities inside the logarithm, which changes the terms of rare tokens.",
    ),
    Mutant(
        "1e-8 in both",
        lambda p, q: (np.asarray(p) * np.log((np.asarray(p) + 1e-8) / (np.asarray(q) + 1e-8))).sum(-1),
        "Adds 1e-8 to both probabilities inside the logarithm, which changes the KL.",
    ),
    Mutant(
        "absolute",
        _with_logarithms(lambda p, q, logs: np.abs(p * logs).sum(-1)),
        "Adds up the absolute values of the terms, so their signs are lost.",
    ),
    Mutant(
        "unweighted",
        _with_logarithms(lambda p, q, logs: logs.mean(-1)),
        "Averages the logarithms with equal weights; the weights are πₐ.",
    ),
    Mutant(
        "weighted by the reference",
        _with_logarithms(lambda p, q, logs: (q * logs).sum(-1)),
        "Weights the logarithms log(πₐ / πrefₐ) by πref; the weights are πₐ.",
    ),
)
