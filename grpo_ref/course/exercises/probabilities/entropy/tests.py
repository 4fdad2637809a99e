"""The tests of `probabilities/entropy`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Rule, Unchanged
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY

SUMS_TO_ONE = Rule(
    "Each row of `probs` sums to 1 up to rounding.",
    lambda values: np.allclose(np.sum(values["probs"], axis=-1), 1.0, rtol=0.0, atol=1e-12),
)

DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, one distribution per row",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
    rules=(SUMS_TO_ONE,),
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
    Case(
        "Two rows with zeros",
        ([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0]],),
        np.array([1.5 * np.log(2.0), 0.0]),
        why="1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972. A certain token has the entropy 0.",
        shown=True,
    ),
    Case(
        "A tiny probability, in a single row",
        ([1.0, 1e-300],),
        1e-300 * 300 * np.log(10.0),
        why="The second token adds -1e-300 · log 1e-300, and the first token adds 0.",
        shown=True,
    ),
    Case(
        "Certainty",
        (np.array([[1.0, 0.0], [0.0, 1.0]]),),
        np.zeros(2),
        why="One token is certain, and 0 log 0 is 0.",
    ),
    Case(
        "A single row",
        (np.array([0.25] * 4),),
        np.log(4.0),
        why="A single row gives a number: log 4 for four equal probabilities.",
    ),
    Unchanged((np.array([[0.5, 0.5, 0.0]]),)),
)
