"""The tests of `aggregation/token_mean`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.author import Case, Domain, Mask, Real, Unchanged

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token, one row per completion"),
        "mask": Mask("N T"),
    },
    sizes={"N": (1, 4), "T": (0, 5)},
    large={"N": 40, "T": 300},
)


def reference(values, mask):
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    return float(masked_sum(values * aggregation.token_mean(mask), mask, axis=(-3, -2, -1)))


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

CHECKS = (
    Case(
        "Three tokens and one",
        (VALUES, MASK),
        3.0,
        why="Four tokens: (1 + 2 + 3 + 6) / 4. The two 99 are padding.",
        shown=True,
    ),
    Case("NaN in the padding", ([[2.0, np.nan]], [[1, 0]]), 2.0, why="what the padding holds never matters"),
    Case("No token at all", ([[5.0]], [[0]]), 0.0, why="nothing to average, and no 0/0"),
    Case(
        "An empty completion",
        ([[4.0, 2.0], [9.0, 9.0]], [[1, 1], [0, 0]]),
        3.0,
        why="it has no tokens to count",
    ),
    Case("Truth values as a mask", ([[2.0, 7.0]], np.array([[True, False]])), 2.0, why="a mask may be bool"),
    Unchanged((VALUES, MASK)),
)
