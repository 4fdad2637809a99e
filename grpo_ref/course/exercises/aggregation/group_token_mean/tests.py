"""The tests of `aggregation/group_token_mean`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.author import Case, Domain, Mask, Real, Unchanged

DOMAIN = Domain(
    {
        "values": Real("P G T", (-1e6, 1e6), padding="mask", meaning="one per token"),
        "mask": Mask("P G T"),
    },
    sizes={"P": (1, 4), "G": (1, 3), "T": (0, 4)},
    large={"P": 20, "G": 20, "T": 100},
)


def reference(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask)
    return float(masked_sum(values * aggregation.group_token_mean(mask), mask, axis=(-3, -2, -1)))


VALUES = np.array([[[6.0, 2.0], [4.0, 99.0]], [[8.0, 99.0], [99.0, 99.0]]])

MASK = np.array([[[1, 1], [1, 0]], [[1, 0], [0, 0]]])

CHECKS = (
    Case(
        "A group with three tokens and one with a single token",
        (VALUES, MASK),
        6.0,
        why="The first group has the mean (6 + 2 + 4) / 3 = 4, the second 8, and (4 + 8) / 2 = 6. The mean over"
        " the batch would be 20 / 4 = 5.",
        shown=True,
    ),
    Case(
        "One prompt",
        ([[[1.0, 2.0], [6.0, 9.0]]], [[[1, 1], [1, 0]]]),
        3.0,
        why="(1 + 2 + 6) / 3, the mean over all of its tokens",
    ),
    Case(
        "NaN in the padding",
        ([[[2.0, np.nan]], [[4.0, np.inf]]], [[[1, 0]], [[1, 0]]]),
        3.0,
        why="what the padding holds never matters",
    ),
    Case(
        "A group without tokens",
        ([[[4.0, 2.0]], [[9.0, 9.0]]], [[[1, 1]], [[0, 0]]]),
        1.5,
        why="the mean of the first group is 3, the second adds 0, and there are two groups",
    ),
    Case("No token at all", ([[[5.0]]], [[[0]]]), 0.0, why="nothing to average, and no 0/0"),
    Unchanged((VALUES, MASK)),
)
