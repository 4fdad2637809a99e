"""The tests of `aggregation/fixed_length`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.author import Case, Domain, Mask, Raises, Real, Unchanged, Whole

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token, one row per completion"),
        "mask": Mask("N T"),
        "max_length": Whole((1, 5000), at=(1, 2, 3), refused=(0, -1), meaning="the budget in tokens"),
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
        "A budget of 4",
        ([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 4),
        1.5,
        why="The sums of the rows are 6 and 6. Divided by 4, both are 1.5, and so is their mean.",
        shown=True,
    ),
    Case(
        "A smaller budget",
        ([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 2),
        3.0,
        why="(6 / 2 + 6 / 2) / 2 = 3, although the first completion is longer than the budget.",
        shown=True,
    ),
    Case(
        "An empty completion counts in N",
        ([[4, 2], [9, 9]], [[1, 1], [0, 0]], 6),
        0.5,
        why="(6 / 6 + 0 / 6) / 2 = 0.5.",
        shown=True,
    ),
    Case("A budget larger than T", (VALUES, MASK, 12), 0.5, why="(6 / 12 + 6 / 12) / 2 = 0.5."),
    Case(
        "NaN in the padding",
        ([[2.0, np.nan]], [[1, 0]], 2),
        1.0,
        why="Padding does not count, and NaN times 0 is NaN.",
    ),
    Raises(
        "A budget below 1 is refused",
        ((VALUES, MASK, 0), (VALUES, MASK, -1), ([[1.0]], [[0]], 0)),
        why="A `max_length` below 1 must raise a ValueError, even if the batch has no token.",
    ),
    Unchanged((VALUES, MASK, 4)),
)
