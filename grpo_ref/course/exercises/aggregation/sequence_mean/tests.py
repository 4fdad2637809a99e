"""The tests of `aggregation/sequence_mean`: the inputs that its statement allows, the right answer, the checks."""

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
    weights = aggregation.sequence_mean_token_mean(mask)
    return float(masked_sum(values * weights, mask, axis=(-3, -2, -1)))


CHECKS = (
    Case(
        "Three tokens and one",
        ([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]]),
        4.0,
        why="The completions have the means (1 + 2 + 3) / 3 = 2 and 6 / 1 = 6, and (2 + 6) / 2 = 4.",
        shown=True,
    ),
    Case(
        "An empty completion counts in N",
        ([[4, 2], [9, 9]], [[1, 1], [0, 0]]),
        1.5,
        why="The first completion has the mean 3, the second adds 0: (3 + 0) / 2 = 1.5.",
        shown=True,
    ),
    Case(
        "Padding can be anywhere",
        ([[1, 50, 3], [8, 0, 50]], [[1, 0, 1], [1, 1, 0]]),
        3.0,
        why="(1 + 3) / 2 = 2 and (8 + 0) / 2 = 4. The value 0 belongs to a token.",
        shown=True,
    ),
    Case(
        "Padding before and after the tokens",
        ([[50, 1, 3, 50], [50, 6, 50, 50]], [[0, 1, 1, 0], [0, 1, 0, 0]]),
        4.0,
        why="(1 + 3) / 2 = 2 and 6 / 1 = 6, and (2 + 6) / 2 = 4.",
    ),
    Case("No token at all", ([[5.0]], [[0]]), 0.0, why="The completion adds 0."),
    Case(
        "NaN in the padding",
        ([[2.0, np.nan]], [[1, 0]]),
        2.0,
        why="Padding does not count, and NaN times 0 is NaN.",
    ),
    Case(
        "Truth values as a mask",
        ([[2.0, 7.0]], np.array([[True, False]])),
        2.0,
        why="A mask may hold truth values.",
    ),
    Case(
        "Completions of one token",
        ([[2.0], [6.0], [7.0]], [[1], [1], [0]]),
        8 / 3,
        why="There are three completions: (2 + 6 + 0) / 3.",
    ),
    Unchanged((np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]]))),
)
