"""The tests of `aggregation/group_token_mean`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.author import Case, Domain, Mask, Real, Unchanged

DOMAIN = Domain(
    {
        "values": Real(
            "P G T", (-1e6, 1e6), padding="mask", meaning="one per prompt, completion and position"
        ),
        "mask": Mask("P G T"),
    },
    sizes={"P": (1, 4), "G": (1, 3), "T": (0, 4)},
    large={"P": 20, "G": 20, "T": 100},
)


def reference(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask)
    return float(masked_sum(values * aggregation.group_token_mean(mask), mask, axis=(-3, -2, -1)))


CHECKS = (
    Case(
        "Three tokens in one group, one in the other",
        ([[[6, 2], [4, 99]], [[8, 99], [99, 99]]], [[[1, 1], [1, 0]], [[1, 0], [0, 0]]]),
        6.0,
        why="The first group has the mean (6 + 2 + 4) / 3 = 4, the second group 8: (4 + 8) / 2 = 6.",
        shown=True,
    ),
    Case(
        "A group without tokens counts in P",
        ([[[4, 2]], [[9, 9]]], [[[1, 1]], [[0, 0]]]),
        1.5,
        why="The first group has the mean 3, the second adds 0: (3 + 0) / 2 = 1.5.",
        shown=True,
    ),
    Case(
        "One prompt",
        ([[[1, 2], [6, 9]]], [[[1, 1], [1, 0]]]),
        3.0,
        why="(1 + 2 + 6) / 3 = 3, the mean of all tokens of the group.",
        shown=True,
    ),
    Case(
        "NaN in the padding",
        ([[[2.0, np.nan]], [[4.0, np.inf]]], [[[1, 0]], [[1, 0]]]),
        3.0,
        why="Padding does not count, and NaN times 0 is NaN.",
    ),
    Case("No token at all", ([[[5.0]]], [[[0]]]), 0.0, why="The group adds 0."),
    Unchanged((np.array([[[6.0, 2.0], [4.0, 99.0]]]), np.array([[[1, 1], [1, 0]]]))),
)
