"""The log-probability of the token that was sampled."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies.table import log_softmax

DOMAIN = Domain(
    {
        "logits": Real(
            "N T V",
            (-1e4, 1e4),
            usual=((-3, 3), (-30, 30), (-900, 900), (-1e4, 1e4)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT),
            meaning="one row per completion and position",
        ),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the tokens that came"),
    },
    sizes={"N": (1, 3), "T": (1, 4), "V": (1, 5)},
    large={"N": 40, "T": 200, "V": 300},
)
ROWS = np.log(np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]]))


def _reference(logits: Any, tokens: Any) -> Any:
    table, tokens = log_softmax(np.asarray(logits, dtype=float)), np.asarray(tokens)
    return np.take_along_axis(table, tokens[..., None], axis=-1)[..., 0]


def _logits_of_tokens(logits: Any, tokens: Any) -> Any:
    return np.take_along_axis(np.asarray(logits, dtype=float), np.asarray(tokens)[..., None], axis=-1)[..., 0]


PROBLEM = Problem(
    id="probabilities/token_log_probs",
    title="How likely was the token that came?",
    function="token_log_probs",
    reference=_reference,
    background=(
        "A language model answers a prompt with a completion, a row of tokens. At every position it gives each token"
        " of the vocabulary a logit, and with the softmax of the logits a probability; these probabilities are the"
        " policy. One token per position was drawn from them. Training makes that token more or less likely, so of"
        " the whole vocabulary the loss needs one number per position: the log-probability of the token that came."
    ),
    task=(
        "Write `token_log_probs(logits, tokens)`. At every position t of every completion n it takes the"
        " log-probability of the token there:\n\n"
        "    result[n, t] = logits[n, t, a] - log Σ_b exp(logits[n, t, b]),    a = tokens[n, t]\n\n"
        "The sum runs over the vocabulary, the last axis; every position has a distribution of its own."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, T) log-probabilities in nats.",
    constraints=(
        "logits[n, t] scores tokens[n, t]: nothing is shifted here. No axis is empty.\n"
        "Every result is finite, however far apart the logits of a position are: nothing overflows, and a very"
        " unlikely token gets a large negative number, not -inf."
    ),
    notes=(
        "In a trainer the logits at a position score the next token, so they are shifted by one place before they"
        " get here. The whole table of log-probabilities is the largest array of a training step; TRL and verl pick"
        " the logit first and subtract the log of the sum from it, which is the same with less memory."
    ),
    kernel="grpo_ref.token_log_probs",
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
            why=(
                "The logits are the logarithms of the probabilities 0.5, 0.3, 0.2 and 0.1, 0.1, 0.8. Token 0 came"
                " first and token 2 second: log 0.5 and log 0.8."
            ),
            shown=True,
        ),
        Case("The other tokens", (ROWS, [[1, 0]]), np.log([[0.3, 0.1]]), why="probabilities 0.3 and 0.1"),
        Case(
            "Logits need not be normalized",
            (ROWS + 5.0, [[0, 2]]),
            np.log([[0.5, 0.8]]),
            why="logits are log-probabilities up to a constant per position",
        ),
        Case(
            "Many unlikely tokens",
            (np.array([[[0.0] + [-25.0] * 199]] * 2), [[0], [7]]),
            np.array([[0.0], [-25.0]]) - np.log1p(199 * np.exp(-25.0)),
            why="each of the unlikely tokens adds exp(-25) to the sum, however little that is",
        ),
        Unchanged((ROWS, np.array([[0, 2]]))),
        FromDomain(),
        *found_cases(__file__),
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
