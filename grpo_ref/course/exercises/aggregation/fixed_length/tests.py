"""The tests of `aggregation/fixed_length`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.author import Case, Domain, Mask, Raises, Real, Unchanged, Whole

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token, one row per completion"),
        "mask": Mask("N T"),
        "max_length": Whole(
            (1, 5000),
            at=(1, 2, 3),
            refused=(0, -1),
            meaning="L, the budget in tokens; it may be smaller or larger than T",
        ),
    },
    sizes={"N": (1, 4), "T": (0, 5)},
    large={"N": 40, "T": 300},
)


def reference(values, mask, max_length):
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    return float(masked_sum(values * aggregation.fixed_length(mask, max_length), mask, axis=(-3, -2, -1)))


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

CHECKS = (
    Case(
        "Three tokens and one, of a budget of 4",
        (VALUES, MASK, 4),
        1.5,
        why="The sums 6 and 6 of the rows, each divided by 4, have the mean 1.5. The two 99 are padding.",
        shown=True,
    ),
    Case("The budget is not the longest completion", (VALUES, MASK, 12), 0.5, why="12 / (2 · 12)"),
    Case(
        "An empty completion is one of N",
        ([[4.0, 2.0], [9.0, 9.0]], [[1, 1], [0, 0]], 2),
        1.5,
        why="6 / (2 · 2)",
    ),
    Case(
        "NaN in the padding",
        ([[2.0, np.nan]], [[1, 0]], 2),
        1.0,
        why="what the padding holds never matters",
    ),
    Case(
        "A budget smaller than the rows",
        (VALUES, MASK, 2),
        3.0,
        why="12 / (2 · 2): L is divided by as it is given",
    ),
    Raises(
        "A budget without tokens is refused",
        ((VALUES, MASK, 0), (VALUES, MASK, -1), ([[1.0]], [[0]], 0)),
        why="nothing can be divided by it",
    ),
    Unchanged((VALUES, MASK, 4)),
)
