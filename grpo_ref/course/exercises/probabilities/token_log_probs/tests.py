"""The tests of `probabilities/token_log_probs`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    NEAR_TIES,
    OFFSET_ROWS,
    ONE_FAR_OUT,
    Case,
    Domain,
    Real,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies.table import log_softmax

DOMAIN = Domain(
    {
        "logits": Real(
            "N T V",
            (-1e4, 1e4),
            usual=((-3, 3), (-30, 30), (-900, 900), (-1e4, 1e4)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT),
            meaning="logits, one row per position",
        ),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the sampled tokens"),
    },
    sizes={"N": (1, 3), "T": (1, 4), "V": (1, 5)},
    large={"N": 40, "T": 200, "V": 300},
)

ROWS = np.log(np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]]))


def reference(logits, tokens):
    table, tokens = log_softmax(np.asarray(logits, dtype=float)), np.asarray(tokens)
    return np.take_along_axis(table, tokens[..., None], axis=-1)[..., 0]


CHECKS = (
    Case(
        "Two positions",
        (ROWS.tolist(), [[0, 2]]),
        np.log([[0.5, 0.8]]),
        why="Token 0 was sampled first and token 2 second: log 0.5 and log 0.8.",
        shown=True,
    ),
    Case(
        "Two completions, and logits that are not log-probabilities",
        ([[[np.log(3.0), 0.0], [0.0, 0.0]], [[5.0, 5.0], [1000.0, 0.0]]], [[0, 1], [0, 1]]),
        np.array([[np.log(0.75), np.log(0.5)], [np.log(0.5), -1000.0]]),
        why="The probabilities are 3/4, 1/2 and 1/2, and the last log-probability is 0 - 1000.",
        shown=True,
    ),
    Case(
        "Other tokens at the same positions",
        (ROWS, [[1, 0]]),
        np.log([[0.3, 0.1]]),
        why="Tokens 1 and 0 have the probabilities 0.3 and 0.1.",
    ),
    Case(
        "Logits need not be normalized",
        (ROWS + 5.0, [[0, 2]]),
        np.log([[0.5, 0.8]]),
        why="A constant that is added to all logits of a position changes nothing.",
    ),
    Case(
        "Many unlikely tokens",
        (np.array([[[0.0] + [-25.0] * 199]] * 2), [[0], [7]]),
        np.array([[0.0], [-25.0]]) - np.log1p(199 * np.exp(-25.0)),
        why="Each of the unlikely tokens adds exp(-25) to the sum.",
    ),
    Unchanged((ROWS, np.array([[0, 2]]))),
)
