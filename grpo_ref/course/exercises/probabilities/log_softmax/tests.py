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
            meaning="z, one logit per token of the vocabulary",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
)


def reference(logits):
    return log_softmax(np.asarray(logits, dtype=float))


def sums_to_one(f):
    logits = np.array([[0.3, -1.0, 2.0], [5.0, 5.0, 5.0]])
    sums = np.exp(f(logits)).sum(-1)
    return None if np.allclose(sums, 1.0) else "the exponentials of a row should sum to 1"


def ignores_a_shift(f):
    logits = np.array([[0.3, -1.0, 2.0]])
    is_same = np.allclose(f(logits), f(logits + 7.0))
    return None if is_same else "adding 7 to every logit should change nothing"


CHECKS = (
    Case(
        "Two equal logits",
        ([[0.0, 0.0]],),
        np.log([[0.5, 0.5]]),
        why="Each of the two tokens has probability 1/2, and log 1/2 = -0.693147.",
        shown=True,
    ),
    Case(
        "One row without other axes",
        ([np.log(3.0), 0.0],),
        np.log([0.75, 0.25]),
        why="exp(log 3) = 3 and exp(0) = 1, so the probabilities are 3/4 and 1/4.",
        shown=True,
    ),
    Case(
        "Large logits, and two rows far apart",
        ([[1000.0, 1000.0], [0.0, -1000.0]],),
        np.array([[-np.log(2.0), -np.log(2.0)], [0.0, -1000.0]]),
        why="The first row has two equal logits. In the second row the logarithm of 1 + exp(-1000) is 0.",
        shown=True,
    ),
    Holds("The probabilities of a row sum to 1", sums_to_one, why="Each row is a distribution of its own."),
    Case(
        "Logits of 1e4 do not overflow",
        (np.array([[1e4, 0.0], [0.0, -1e4]]),),
        np.array([[0.0, -1e4], [0.0, -1e4]]),
        why="exp(1e4) is infinite, but the unlikely token has the log-probability -1e4.",
    ),
    Case(
        "Many unlikely tokens",
        (np.array([0.0] + [-25.0] * 199),),
        np.array([0.0] + [-25.0] * 199) - np.log1p(199 * np.exp(-25.0)),
        why="Each of the unlikely tokens adds exp(-25) to the sum.",
    ),
    Holds(
        "Adding a constant changes nothing",
        ignores_a_shift,
        why="The softmax depends only on the differences between logits.",
    ),
    Unchanged((np.array([[1.0, 2.0]]),)),
)
