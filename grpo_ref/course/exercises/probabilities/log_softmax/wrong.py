"""Wrong answers to `probabilities/log_softmax`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.log_softmax.tests import reference


def shifted_by(statistic):
    """Return the formula with a statistic of the logits subtracted before exp."""

    def answer(logits):
        z = np.asarray(logits, dtype=float)
        z = z - statistic(z)
        return z - np.log(np.exp(z).sum(-1, keepdims=True))

    return answer


def log_sum_exp(z):
    return z - reference(z)


WRONG = (
    Mutant(
        "no maximum subtracted",
        lambda z: z - np.log(np.exp(z).sum(-1, keepdims=True)),
        "Takes exp of the logits as they are; exp(1000) is infinite, and log Σ exp(-1000) is -inf.",
    ),
    Mutant(
        "log of softmax",
        lambda z: np.log(np.exp(reference(z))),
        "Takes the logarithm of a probability that has been rounded to 0.",
    ),
    Mutant(
        "maximum not put back",
        lambda z: reference(z) + np.max(z, -1, keepdims=True),
        "Subtracts the maximum inside the sum only: returns z - log Σ exp(z - max).",
    ),
    Mutant(
        "the logarithm of the sum alone",
        lambda z: -log_sum_exp(np.asarray(z, dtype=float)),
        "Returns -log Σ exp(z); the logit is not added.",
    ),
    Mutant(
        "softmax",
        lambda z: np.exp(reference(z)),
        "Returns the probabilities; their logarithms are asked for.",
    ),
    Mutant("negated", lambda z: -reference(z), "Returns -log π, which has the opposite sign."),
    Mutant(
        "over the first axis",
        lambda z: reference(np.asarray(z, dtype=float).T).T,
        "Normalizes along the first axis; the vocabulary is the last axis.",
    ),
    Mutant(
        "over axis 1",
        lambda z: np.moveaxis(reference(np.moveaxis(np.asarray(z, dtype=float), 1, -1)), -1, 1),
        "Normalizes along axis 1; the vocabulary is the last axis.",
    ),
    Mutant(
        "over everything",
        lambda z: reference(np.ravel(z)).reshape(np.shape(z)),
        "Normalizes over the whole array; each row is a distribution of its own.",
    ),
    Mutant(
        "one maximum for all rows",
        shifted_by(np.max),
        "Subtracts one maximum from all rows, so exp of a row far below it is 0.",
    ),
    Mutant(
        "shifted by the mean",
        shifted_by(lambda z: z.mean(-1, keepdims=True)),
        "Subtracts the mean of a row, so exp of a logit far above the mean is infinite.",
    ),
    Mutant(
        "logits clipped",
        lambda z: reference(np.clip(z, -700.0, 700.0)),
        "Clips the logits to ±700; logits may be larger.",
    ),
    Mutant(
        "base 2",
        lambda z: reference(z) / np.log(2.0),
        "Returns logarithms to base 2; the natural logarithm is asked for.",
    ),
    Mutant(
        "a small number inside",
        lambda z: np.log(np.exp(reference(z)) + 1e-10),
        "Adds 1e-10 inside the logarithm, so no result is below log 1e-10 = -23.",
    ),
    Mutant(
        "integer results",
        lambda z: reference(z).astype(np.asarray(z).dtype),
        "Returns numbers of the type of `logits`, so integer logits give integer results.",
    ),
    Mutant(
        "single precision",
        lambda z: reference(z).astype(np.float32),
        "Uses single precision (float32), which has 7 digits.",
    ),
)
