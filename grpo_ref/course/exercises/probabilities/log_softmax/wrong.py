"""Wrong answers to `probabilities/log_softmax`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.log_softmax.tests import reference

WRONG = (
    Mutant(
        "no maximum subtracted",
        lambda z: z - np.log(np.exp(z).sum(-1, keepdims=True)),
        "Large logits overflow.",
    ),
    Mutant(
        "log of softmax",
        lambda z: np.log(np.exp(reference(z))),
        "This takes the log of a probability that has already become 0.",
    ),
    Mutant(
        "maximum not put back",
        lambda z: reference(z) + np.max(z, -1, keepdims=True),
        "The maximum is subtracted inside the sum only; subtract it from the logits as well.",
    ),
    Mutant(
        "softmax",
        lambda z: np.exp(reference(z)),
        "These are probabilities; their logarithm is asked for.",
    ),
    Mutant(
        "over the first axis",
        lambda z: reference(np.asarray(z, dtype=float).T).T,
        "The vocabulary is the last axis.",
    ),
    Mutant(
        "over everything",
        lambda z: reference(np.ravel(z)).reshape(np.shape(z)),
        "Each row is a distribution of its own.",
    ),
    Mutant(
        "one maximum for all rows",
        lambda z: (
            np.asarray(z) - np.max(z) - np.log(np.exp(np.asarray(z) - np.max(z)).sum(-1, keepdims=True))
        ),
        "The maximum is taken over the whole array; a row far below it underflows.",
    ),
    Mutant(
        "base 2",
        lambda z: reference(z) / np.log(2.0),
        "The logarithm is the natural one: nats, not bits.",
    ),
    Mutant(
        "a small number inside",
        lambda z: np.log(np.exp(reference(z)) + 1e-10),
        "A small number inside the logarithm floors every log-probability at -23.",
    ),
)
