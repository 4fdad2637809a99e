"""The tests of `probabilities/entropy`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Unchanged
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY

DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, probabilities; each row along the last axis, the vocabulary, sums to 1 up to rounding",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
)


def reference(probs):
    p = np.asarray(probs, dtype=float)
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)


CHECKS = (
    Case(
        "A fair coin",
        ([[0.5, 0.5]],),
        np.log([2.0]),
        why="Two terms of -1/2 log 1/2 each, together log 2 = 0.693147.",
        shown=True,
    ),
    Case("Certainty", (np.array([[1.0, 0.0], [0.0, 1.0]]),), np.zeros(2), why="0 log 0 is 0, not NaN"),
    Case(
        "A half and two quarters",
        (np.array([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0]]),),
        np.array([1.5 * np.log(2.0), 0.0]),
        why="1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972; and a certain token leaves no doubt.",
        shown=True,
    ),
    Case("A single distribution", (np.array([0.25] * 4),), np.log(4.0), why="log 4: one number for one row"),
    Unchanged((np.array([[0.5, 0.5, 0.0]]),)),
)
