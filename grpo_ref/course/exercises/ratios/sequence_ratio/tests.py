"""The tests of `ratios/sequence_ratio`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Mask, Real, Unchanged
from grpo_ref.levels import sequence_mean_level

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "N T",
            (-600, 600),
            usual=((-0.5, 0.5), (-30, 30), (-600, 600)),
            padding="mask",
            meaning="log πθ - log πold of each token, in nats",
        ),
        "mask": Mask("N T", empty_rows=False, nothing=False),
    },
    sizes={"N": (1, 3), "T": (1, 5)},
    large={"N": 40, "T": 200},
)


def reference(log_ratio, mask):
    log_ratio, mask = np.asarray(log_ratio, dtype=float), np.asarray(mask)
    return np.exp(np.where(mask != 0, sequence_mean_level(log_ratio, mask), -np.inf).max(-1))


CHECKS = (
    Case(
        "Two completions",
        ([[0.1, 0.3, 9], [0.6, 0, 0.3]], [[1, 1, 0], [1, 1, 1]]),
        np.exp([0.2, 0.3]),
        why=(
            "First completion: (0.1 + 0.3) / 2 = 0.2, and exp(0.2) = 1.2214; the 9 is padding. Second"
            " completion: (0.6 + 0 + 0.3) / 3 = 0.3."
        ),
        shown=True,
    ),
    Case(
        "Padding anywhere",
        ([[9.0, 0.5, 3.0, -0.1]], [[0, 1, 0, 1]]),
        np.exp([0.2]),
        why="The sum is 0.5 - 0.1 = 0.4 and |o| is 2, so the mean is 0.2.",
        shown=True,
    ),
    Case(
        "A product that is too large",
        ([[600.0, 600.0, 300.0]], [[1, 1, 1]]),
        np.exp([500.0]),
        why="exp(1500) is too large for a floating-point number. Its cube root, exp(500), is not.",
        shown=True,
    ),
    Case(
        "One token",
        ([[0.5, 3.0]], [[1, 0]]),
        np.exp([0.5]),
        why="The ratio of a completion with one token is the ratio of the token.",
    ),
    Case(
        "Equal policies",
        (np.zeros((2, 3)), np.ones((2, 3))),
        np.ones(2),
        why="If both policies are equal, every ratio is 1.",
    ),
    Case(
        "NaN in the padding",
        ([[0.5, np.nan]], [[1, 0]]),
        np.exp([0.5]),
        why="Padding does not count, also if it is NaN.",
    ),
    Unchanged((np.array([[0.1, 0.3, 9.0], [0.6, 0.0, 0.3]]), np.array([[1, 1, 0], [1, 1, 1]]))),
)
