"""Wrong answers to `probabilities/entropy`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.entropy.tests import reference


def terms(probs):
    p = np.asarray(probs, dtype=float)
    return -p * np.log(np.where(p > 0, p, 1.0))


def after_a_softmax(probs):
    exponentials = np.exp(probs)
    return reference(exponentials / exponentials.sum(-1, keepdims=True))


def with_a_least_probability(probs):
    p = np.maximum(probs, 1e-8)
    return -(p * np.log(p)).sum(-1)


WRONG = (
    Mutant(
        "NaN for zeros",
        lambda p: -(np.asarray(p) * np.log(p)).sum(-1),
        "Multiplies 0 by log 0 = -inf, which gives NaN.",
    ),
    Mutant("bits", lambda p: reference(p) / np.log(2.0), "Uses the logarithm to base 2; nats are asked for."),
    Mutant(
        "mean for sum",
        lambda p: terms(p).mean(-1),
        "Takes the mean over the tokens; the entropy is their sum.",
    ),
    Mutant("negative", lambda p: -reference(p), "Returns Σ p log p; the minus sign is missing."),
    Mutant("sum over all rows", lambda p: terms(p).sum(), "Adds the entropies of all rows to one number."),
    Mutant("mean over all rows", lambda p: np.mean(reference(p)), "Averages the entropies of all rows."),
    Mutant(
        "along the first axis",
        lambda p: terms(p).sum(0),
        "Sums along the first axis; the vocabulary is the last axis.",
    ),
    Mutant(
        "along axis 1",
        lambda p: terms(p).sum(1),
        "Sums along axis 1; the vocabulary is the last axis.",
    ),
    Mutant(
        "last axis kept",
        lambda p: terms(p).sum(-1, keepdims=True),
        "Keeps the last axis with length 1 (`keepdims=True`).",
    ),
    Mutant("not summed", terms, "Returns one term per token; their sum is missing."),
    Mutant(
        "mean of -log p",
        lambda p: -np.log(np.maximum(p, 1e-12)).mean(-1),
        "Averages -log p with equal weights; the weights are p.",
    ),
    Mutant(
        "a small number inside",
        lambda p: -(np.asarray(p) * np.log(np.asarray(p) + 1e-6)).sum(-1),
        "Adds a small number inside the logarithm, which changes every term.",
    ),
    Mutant(
        "a least probability",
        with_a_least_probability,
        "Replaces probabilities that are 0 or small by a larger number, so that they add more.",
    ),
    Mutant(
        "small probabilities dropped",
        lambda p: reference(np.where(np.asarray(p) > 1e-10, p, 0.0)),
        "Treats small probabilities as 0; every probability above 0 counts.",
    ),
    Mutant(
        "normalized entropy",
        lambda p: reference(p) / np.log(np.shape(p)[-1]),
        "Divides by log V, so a uniform distribution gives 1.",
    ),
    Mutant("perplexity", lambda p: np.exp(reference(p)), "Returns exp(H), the perplexity, not H."),
    Mutant(
        "softmax first",
        after_a_softmax,
        "Takes the softmax of `probs`, which are probabilities already.",
    ),
)
