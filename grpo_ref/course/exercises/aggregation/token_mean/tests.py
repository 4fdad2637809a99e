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


CHECKS = (
    Case(
        "Three tokens and one",
        ([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]]),
        3.0,
        why="The batch has four tokens: (1 + 2 + 3 + 6) / 4 = 3. The two values 99 are padding.",
        shown=True,
    ),
    Case(
        "Padding can be anywhere",
        ([[1, 50, 3], [9, 9, 9]], [[1, 0, 1], [0, 0, 0]]),
        2.0,
        why="(1 + 3) / 2 = 2. The second row has no token.",
        shown=True,
    ),
    Case("No token at all", ([[5.0]], [[0]]), 0.0, why="The result is defined as 0.", shown=True),
    Case(
        "Padding before and after the tokens",
        ([[50, 1, 3, 50], [50, 6, 50, 50]], [[0, 1, 1, 0], [0, 1, 0, 0]]),
        10 / 3,
        why="The batch has three tokens: (1 + 3 + 6) / 3.",
    ),
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
    Unchanged((np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]]))),
)
