"""Wrong answers to `probabilities/token_log_probs`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.token_log_probs.tests import reference
from grpo_ref.learning.policies.table import log_softmax


def of_tokens(table, tokens):
    """Select the entry of the sampled token at every position."""
    return np.take_along_axis(np.asarray(table, dtype=float), np.asarray(tokens)[..., None], axis=-1)[..., 0]


def normalized_along(axis):
    """Return the formula with the softmax taken along another axis."""

    def answer(logits, tokens):
        z = np.moveaxis(np.asarray(logits, dtype=float), axis, -1)
        return of_tokens(np.moveaxis(log_softmax(z), -1, axis), tokens)

    return answer


def normalized_per_completion(logits, tokens):
    z = np.asarray(logits, dtype=float)
    return of_tokens(log_softmax(z.reshape(len(z), -1)).reshape(z.shape), tokens)


def one_maximum(logits, tokens):
    z = np.asarray(logits, dtype=float) - np.max(logits)
    return of_tokens(z, tokens) - np.log(np.exp(z).sum(-1))


WRONG = (
    Mutant("logits for log-probabilities", of_tokens, "Returns the logits of the tokens, not normalized."),
    Mutant(
        "no maximum subtracted",
        lambda z, t: of_tokens(z, t) - np.log(np.exp(z).sum(-1)),
        "Takes exp of the logits as they are; exp(1000) is infinite, and log Σ exp(-1000) is -inf.",
    ),
    Mutant(
        "one maximum for everything",
        one_maximum,
        "Subtracts one maximum from all positions, so exp of a position far below it is 0.",
    ),
    Mutant(
        "log of softmax",
        lambda z, t: np.log(np.exp(reference(z, t))),
        "Takes the logarithm of a probability that has been rounded to 0.",
    ),
    Mutant(
        "probabilities",
        lambda z, t: np.exp(reference(z, t)),
        "Returns the probabilities of the tokens; their logarithms are asked for.",
    ),
    Mutant(
        "the most likely token",
        lambda z, t: log_softmax(np.asarray(z, dtype=float)).max(-1),
        "Returns the log-probability of the most likely token, not of the sampled token.",
    ),
    Mutant(
        "shifted to the right",
        lambda z, t: reference(z, np.roll(np.asarray(t), 1, axis=-1)),
        "Pairs the logits at position t with the token at position t - 1.",
    ),
    Mutant(
        "shifted to the left",
        lambda z, t: reference(np.asarray(z)[:, :-1], np.asarray(t)[:, 1:]),
        "Pairs the logits at position t with the token at t + 1, and returns one position fewer.",
    ),
    Mutant(
        "counted from 1",
        lambda z, t: reference(z, np.asarray(t) - 1),
        "Selects the token before the sampled one; tokens are numbered from 0.",
    ),
    Mutant(
        "one distribution per completion",
        normalized_per_completion,
        "Sums over the positions as well as over the vocabulary.",
    ),
    Mutant(
        "normalized over the positions",
        normalized_along(1),
        "Normalizes along the positions; the vocabulary is the last axis.",
    ),
    Mutant(
        "normalized over the completions",
        normalized_along(0),
        "Normalizes along the completions; the vocabulary is the last axis.",
    ),
    Mutant("negated", lambda z, t: -reference(z, t), "Returns -log π, the cross-entropy: the opposite sign."),
    Mutant(
        "base 2",
        lambda z, t: reference(z, t) / np.log(2.0),
        "Returns logarithms to base 2; the natural logarithm is asked for.",
    ),
    Mutant(
        "an axis too many",
        lambda z, t: np.take_along_axis(log_softmax(np.asarray(z, float)), np.asarray(t)[..., None], axis=-1),
        "Returns shape (N, T, 1): the last axis is still there after the selection.",
    ),
    Mutant(
        "integer results",
        lambda z, t: reference(z, t).astype(np.asarray(z).dtype),
        "Returns numbers of the type of `logits`, so integer logits give integer results.",
    ),
)
