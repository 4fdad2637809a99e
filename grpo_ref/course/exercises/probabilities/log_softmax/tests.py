"""The tests of `probabilities/log_softmax`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    NEAR_TIES,
    OFFSET_ROWS,
    ONE_FAR_OUT,
    Case,
    Domain,
    Holds,
    Real,
    Unchanged,
)
from grpo_ref.learning.policies.table import log_softmax

DOMAIN = Domain(
    {
        "logits": Real(
            "V|N V|B N V",
            (-1e4, 1e4),
            usual=((-3, 3), (-30, 30), (-900, 900), (-1e4, 1e4)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT),
            meaning="z, one number per token of the vocabulary",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
)


def reference(logits):
    return log_softmax(np.asarray(logits, dtype=float))


def _sums_to_one(f):
    logits = np.array([[0.3, -1.0, 2.0], [5.0, 5.0, 5.0]])
    return None if np.allclose(np.exp(f(logits)).sum(-1), 1.0) else "exp of a row should sum to 1"


def _shift(f):
    logits = np.array([[0.3, -1.0, 2.0]])
    return (
        None if np.allclose(f(logits), f(logits + 7.0)) else "adding 7 to every logit should change nothing"
    )


CHECKS = (
    Case(
        "Two equal logits",
        ([[0.0, 0.0]],),
        np.log([[0.5, 0.5]]),
        why="Each of the two has probability 1/2, and log 1/2 = -0.693147.",
        shown=True,
    ),
    Holds("Probabilities sum to one", _sums_to_one, why="they are probabilities, row by row"),
    Case(
        "Logits of 1e4 do not overflow",
        (np.array([[1e4, 0.0], [0.0, -1e4]]),),
        np.array([[0.0, -1e4], [0.0, -1e4]]),
        why="exp(1e4) is infinite, its logarithm is not: the unlikely token has log-probability -1e4",
    ),
    Case(
        "One axis will do",
        (np.array([np.log(3.0), 0.0]),),
        np.log([0.75, 0.25]),
        why="exp(log 3) = 3 and exp(0) = 1: odds of 3 to 1, so log 3/4 and log 1/4. One row without other axes.",
        shown=True,
    ),
    Case(
        "Many unlikely tokens",
        (np.array([0.0] + [-25.0] * 199),),
        np.array([0.0] + [-25.0] * 199) - np.log1p(199 * np.exp(-25.0)),
        why="each of the unlikely tokens adds exp(-25) to the sum, however little that is",
    ),
    Holds("Adding a constant changes nothing", _shift, why="the softmax knows differences only"),
    Unchanged((np.array([[1.0, 2.0]]),)),
)
