"""Wrong answers to `probabilities/token_log_probs`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.token_log_probs.tests import reference
from grpo_ref.learning.policies.table import log_softmax


def _logits_of_tokens(logits, tokens):
    return np.take_along_axis(np.asarray(logits, dtype=float), np.asarray(tokens)[..., None], axis=-1)[..., 0]


WRONG = (
    Mutant("logits for log-probabilities", _logits_of_tokens, "The logits are not normalized."),
    Mutant(
        "probabilities",
        lambda z, t: np.exp(reference(z, t)),
        "These are probabilities, not their logarithms.",
    ),
    Mutant(
        "the likeliest token",
        lambda z, t: log_softmax(np.asarray(z, dtype=float)).max(-1),
        "This is the likeliest token's, not that of the token that came.",
    ),
    Mutant(
        "shifted by one",
        lambda z, t: reference(z, np.roll(np.asarray(t), 1, axis=-1)),
        "The tokens are shifted by one position.",
    ),
    Mutant(
        "one distribution for all positions",
        lambda z, t: (
            _logits_of_tokens(z, t) - np.log(np.exp(np.asarray(z)).sum((1, 2), keepdims=True))[..., 0]
        ),
        "The sum runs over positions as well as over the vocabulary.",
    ),
    Mutant(
        "normalized over the positions",
        lambda z, t: _logits_of_tokens(
            np.moveaxis(log_softmax(np.moveaxis(np.asarray(z, float), 1, -1)), -1, 1), t
        ),
        "The vocabulary is the last axis.",
    ),
    Mutant("negated", lambda z, t: -reference(z, t), "The sign is turned over: this is the cross-entropy."),
    Mutant(
        "an axis too many",
        lambda z, t: np.take_along_axis(log_softmax(np.asarray(z, float)), np.asarray(t)[..., None], axis=-1),
        "The picked axis is still there: drop it with [..., 0].",
    ),
)
