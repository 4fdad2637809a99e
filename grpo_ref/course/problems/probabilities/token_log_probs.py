"""The log-probability of the token that was sampled."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.learning.policies.table import log_softmax

ROWS = np.log(np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]]))


def _reference(logits: Any, tokens: Any) -> Any:
    table, tokens = log_softmax(np.asarray(logits, dtype=float)), np.asarray(tokens)
    return np.take_along_axis(table, tokens[..., None], axis=-1)[..., 0]


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.normal(size=(2, size, size + 2)), rng.integers(0, size + 2, (2, size))


def _logits_of_tokens(logits: Any, tokens: Any) -> Any:
    return np.take_along_axis(np.asarray(logits, dtype=float), np.asarray(tokens)[..., None], axis=-1)[..., 0]


PROBLEM = Problem(
    id="probabilities/token_log_probs",
    title="How likely was the token that came?",
    function="token_log_probs",
    reference=_reference,
    background="Of all the probabilities in the vocabulary, the loss needs one per position: that of the sampled token.",
    task=(
        "Write `token_log_probs(logits, tokens)`: at every position, the log-probability of its token.\n\n"
        "    result[n, t] = log_softmax(logits[n, t])[tokens[n, t]]"
    ),
    inputs="logits: (N, T, V).\ntokens: (N, T) integers from 0 to V - 1.",
    output="(N, T) log-probabilities in nats.",
    constraints="logits[n, t] scores tokens[n, t]: nothing is shifted here.",
    source="TRL `selective_log_softmax`; verl `logprobs_from_logits`.",
    hints=(
        "Normalize over the vocabulary first, pick second.",
        "np.take_along_axis picks one entry of the last axis for every position; its indices need that axis too.",
        "np.take_along_axis(log_probs, tokens[..., None], axis=-1)[..., 0]",
    ),
    checks=(
        Case(
            "Two positions",
            (ROWS, [[0, 2]]),
            np.log([[0.5, 0.8]]),
            why="probabilities 0.5 and 0.8",
            shown=True,
        ),
        Case("The other tokens", (ROWS, [[1, 0]]), np.log([[0.3, 0.1]]), why="probabilities 0.3 and 0.1"),
        Case(
            "Logits need not be normalized",
            (ROWS + 5.0, [[0, 2]]),
            np.log([[0.5, 0.8]]),
            why="logits are log-probabilities up to a constant per position",
        ),
        Unchanged((ROWS, np.array([[0, 2]]))),
        Drawn("Random logits and tokens agree", _draw, why="several rows, positions and vocabularies"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("logits for log-probabilities", _logits_of_tokens, "The logits are not normalized."),
        Mutant(
            "probabilities",
            lambda z, t: np.exp(_reference(z, t)),
            "These are probabilities, not their logarithms.",
        ),
        Mutant(
            "the likeliest token",
            lambda z, t: log_softmax(np.asarray(z, dtype=float)).max(-1),
            "This is the likeliest token's, not that of the token that came.",
        ),
        Mutant(
            "shifted by one",
            lambda z, t: _reference(z, np.roll(np.asarray(t), 1, axis=-1)),
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
        Mutant(
            "negated", lambda z, t: -_reference(z, t), "The sign is turned over: this is the cross-entropy."
        ),
        Mutant(
            "an axis too many",
            lambda z, t: np.take_along_axis(
                log_softmax(np.asarray(z, float)), np.asarray(t)[..., None], axis=-1
            ),
            "The picked axis is still there: drop it with [..., 0].",
        ),
    ),
    others={
        "one-hot and Einstein sum": lambda z, t: np.einsum(
            "ntv,ntv->nt", log_softmax(np.asarray(z, float)), np.eye(np.shape(z)[-1])[np.asarray(t)]
        ),
    },
)
