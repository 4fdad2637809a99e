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
            meaning="one row per completion and position",
        ),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the tokens that came"),
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
)
