"""Wrong answers to `kl/exact_kl`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.exact_kl.tests import reference

WRONG = (
    Mutant("reversed", lambda p, q: reference(q, p), "This is KL(πref ‖ π), the other way round."),
    Mutant(
        "NaN for zeros",
        lambda p, q: (np.asarray(p) * np.log(np.divide(p, q))).sum(-1),
        "0 log 0 has become NaN.",
    ),
    Mutant("bits", lambda p, q: reference(p, q) / np.log(2.0), "This is in bits; nats are asked for."),
    Mutant(
        "mean for sum",
        lambda p, q: reference(p, q) / np.shape(p)[-1],
        "It is a sum over the vocabulary.",
    ),
    Mutant("negated", lambda p, q: -reference(p, q), "A KL is never negative."),
    Mutant("all rows together", lambda p, q: np.sum(reference(p, q)), "Each row has a KL of its own."),
    Mutant(
        "cross-entropy",
        lambda p, q: -(np.asarray(p) * np.log(np.maximum(q, 1e-300))).sum(-1),
        "This is the cross-entropy: the entropy is still in it.",
    ),
    Mutant(
        "a small number inside",
        lambda p, q: (np.asarray(p) * np.log((np.asarray(p) + 1e-12) / (np.asarray(q) + 1e-12))).sum(-1),
        "A small number inside shifts every value.",
    ),
    Mutant(
        "absolute",
        lambda p, q: np.abs(
            np.asarray(p) * np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1))
        ).sum(-1),
        "The terms are added with their signs.",
    ),
    Mutant(
        "unweighted",
        lambda p, q: np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1)).mean(-1),
        "The logarithms are weighted by π.",
    ),
)
