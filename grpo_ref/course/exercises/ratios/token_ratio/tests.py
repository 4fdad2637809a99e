"""The tests of `ratios/token_ratio`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Mask, Real, Rule, Unchanged
from grpo_ref.levels import token_level


def log_ratio(log_probs, old_log_probs, mask):
    is_token = np.asarray(mask) > 0
    return np.where(is_token, log_probs, 0.0) - np.where(is_token, old_log_probs, 0.0)


DOMAIN = Domain(
    {
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, -0.1), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of each token, in nats",
        ),
        "old_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-0.5, 0.5), (-25, 25), (5, 25), (-600, 600)),
            padding="mask",
            near="log_probs",
            meaning="log πold of the same tokens, in nats",
        ),
        "mask": Mask("N T"),
    },
    sizes={"N": (1, 3), "T": (0, 4)},
    large={"N": 40, "T": 200},
    rules=(
        Rule(
            "The two log-probabilities of a token differ by at most 700.",
            lambda values: bool((abs(log_ratio(**values)) <= 700).all()),
        ),
    ),
)


def reference(log_probs, old_log_probs, mask):
    change = np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float)
    return np.exp(token_level(change, np.asarray(mask)))


CHECKS = (
    Case(
        "One completion with padding",
        ([[-1.0, -2.5, 9.0]], [[-1.5, -2.0, 7.0]], [[1, 1, 0]]),
        np.array([[np.exp(0.5), np.exp(-0.5), 1.0]]),
        why=(
            "The first log-probability rose by 0.5, so the ratio is exp(0.5). The second one fell by 0.5, so the"
            " ratio is exp(-0.5). The third entry is padding."
        ),
        shown=True,
    ),
    Case(
        "Very unlikely tokens",
        ([[-800.0, 0.0], [-0.7, -0.2]], [[-801.0, 5.0], [-0.7, -0.4]], [[1, 0], [1, 1]]),
        np.array([[np.exp(1.0), 1.0], [1.0, np.exp(0.2)]]),
        why=(
            "First row: exp(-800 + 801) = exp(1), although both probabilities are 0 as floating-point numbers;"
            " then padding. Second row: exp(0) = 1 and exp(0.2)."
        ),
        shown=True,
    ),
    Case(
        "A ratio is a quotient of probabilities",
        (np.log([[0.6, 0.2]]), np.log([[0.5, 0.4]]), [[1, 1]]),
        np.array([[1.2, 0.5]]),
        why="The ratios are 0.6 / 0.5 and 0.2 / 0.4.",
    ),
    Case(
        "Padding before and after a token",
        ([[-3.0, -1.0, -2.0]], [[-1.0, -1.5, -2.5]], [[0, 1, 0]]),
        np.array([[1.0, np.exp(0.5), 1.0]]),
        why="Only the second entry is a token. Its log-probability rose by 0.5.",
    ),
    Case(
        "Equal policies",
        (np.log([[0.3]]), np.log([[0.3]]), [[1]]),
        np.ones((1, 1)),
        why="If both policies are equal, every ratio is 1.",
    ),
    Case(
        "NaN and infinity in the padding",
        ([[-1.0, np.nan]], [[-1.0, np.inf]], [[1, 0]]),
        np.ones((1, 2)),
        why="The ratio of padding is 1, also if the padding is NaN or infinite.",
    ),
    Unchanged((np.log([[0.6]]), np.log([[0.5]]), np.array([[1]]))),
)
