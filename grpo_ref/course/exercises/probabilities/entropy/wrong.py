"""Wrong answers to `probabilities/entropy`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.entropy.tests import reference

WRONG = (
    Mutant("NaN for zeros", lambda p: -(np.asarray(p) * np.log(p)).sum(-1), "0 log 0 has become NaN."),
    Mutant("bits", lambda p: reference(p) / np.log(2.0), "This is in bits; nats are asked for."),
    Mutant(
        "mean for sum",
        lambda p: reference(p) / np.shape(p)[-1],
        "Entropy is a sum over tokens, not a mean.",
    ),
    Mutant("negative", lambda p: -reference(p), "The minus sign is missing: entropy is never negative."),
    Mutant("over all rows", lambda p: np.sum(reference(p)), "Each row has an entropy of its own."),
    Mutant(
        "mean of -log p",
        lambda p: -np.log(np.maximum(p, 1e-12)).mean(-1),
        "The logarithms are weighted by the probabilities, not equally.",
    ),
    Mutant(
        "a small number inside",
        lambda p: -(np.asarray(p) * np.log(np.asarray(p) + 1e-6)).sum(-1),
        "A small number inside the logarithm shifts every value; leave out the zeros instead.",
    ),
)
