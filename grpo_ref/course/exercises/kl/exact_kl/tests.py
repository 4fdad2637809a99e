"""The tests of `kl/exact_kl`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Real, Rule, Unchanged
from grpo_ref.course.grading.domain.distributions import (
    ALIKE_THEN_ZEROS,
    DISTRIBUTIONS,
    LEAST_PROBABILITY,
    PROPORTIONAL,
    QUARTERS,
    SOME_TINY,
)

DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="π, the policy's probabilities, the V tokens of the vocabulary last; each row sums to 1",
        ),
        "ref_probs": Real(
            "V|N V|B N V",
            (0, 1),
            usual=((-0.01, 0.01), (0, 1)),
            near="probs",
            least=LEAST_PROBABILITY,
            rows=(PROPORTIONAL, SOME_TINY, QUARTERS, ALIKE_THEN_ZEROS),
            meaning="πref, the reference's; each row sums to 1",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "V": (1, 5)},
    large={"V": 80, "N": 30},
    rules=(
        Rule(
            "Where ref_probs is 0, probs is 0 too, and the token adds 0.",
            lambda values: (
                not ((np.asarray(values["ref_probs"]) == 0) & (np.asarray(values["probs"]) > 0)).any()
            ),
        ),
    ),
)


def reference(probs, ref_probs):
    with np.errstate(divide="ignore"):
        return penalties.exact_kl(
            np.log(np.asarray(probs, float)), np.log(np.asarray(ref_probs, float))
        ).value


P, Q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.75, 0.25, 0.0]])

HALVES = np.log(2.0) - np.log(3.0) / 2

CHECKS = (
    Case(
        "A fair coin against 3:1",
        ([[0.5, 0.5]], [[0.75, 0.25]]),
        np.array([HALVES]),
        why="The quotients are 1/2 : 3/4 = 2/3 and 1/2 : 1/4 = 2, so it is 1/2 log(2/3) + 1/2 log 2 = log 2 - (log 3)/2.",
        shown=True,
    ),
    Case("Equal policies", (np.full((2, 4), 0.25), np.full((2, 4), 0.25)), np.zeros(2), why="log 1 = 0"),
    Case("A banned token", (P, Q), np.array([HALVES]), why="0 log(0/0) counts nothing"),
    Case(
        "A token given up",
        ([[1.0, 0.0]], [[0.5, 0.5]]),
        np.log([2.0]),
        why="0 log 0 counts nothing; log 2 is left",
    ),
    Case(
        "A nearly impossible token counts",
        ([5e-13, 1 - 5e-13], [1e-4, 1 - 1e-4]),
        5e-13 * np.log(5e-9) + (1 - 5e-13) * (np.log1p(-5e-13) - np.log1p(-1e-4)),
        why="5e-13 log(5e-9) is a ten-millionth of the whole, and nothing is added inside the logarithms",
    ),
    Case("A single row", ([0.5, 0.5], [0.75, 0.25]), HALVES, why="one number for one row"),
    Unchanged((P, Q)),
)
