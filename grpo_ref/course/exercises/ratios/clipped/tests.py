"""The tests of `ratios/clipped`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T|B N T",
            (1e-8, 1e4),
            usual=((0.1, 2), (1e-8, 1e4), (1e-8, 1e-6)),
            at=(1, "1 + clip_high", "1 - clip_low"),
            meaning="r = πθ/πold of each token",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), at=(0,), meaning="A, advantage of each token"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="lower bound is 1 - clip_low"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="upper bound is 1 + clip_high"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(ratio, advantages, clip_low=0.2, clip_high=0.2):
    log_ratio = np.log(np.asarray(ratio, dtype=float))
    return surrogates.clipped(
        log_ratio, np.asarray(advantages, dtype=float), clip_low=clip_low, clip_high=clip_high
    ).value


CHECKS = (
    Case(
        "The upper bound clips good tokens",
        ([1.5, 1.5], [1.0, -2.0]),
        np.array([1.2, -3.0]),
        why=(
            "Good token: min(1.5 · 1, 1.2 · 1) = 1.2, so the value is clipped. Bad token: min(1.5 · -2, 1.2 · -2)"
            " = min(-3, -2.4) = -3, so the value is not clipped."
        ),
        shown=True,
    ),
    Case(
        "The lower bound clips bad tokens",
        ([0.5, 0.5], [1.0, -1.0]),
        np.array([0.5, -0.8]),
        why="Good token: min(0.5, 0.8) = 0.5, not clipped. Bad token: min(-0.5, -0.8) = -0.8, clipped.",
        shown=True,
    ),
    Case(
        "The two bounds are independent",
        ([[1.5, 1.1], [0.5, 0.9]], [[1.0, 1.0], [-1.0, -1.0]]),
        np.array([[1.28, 1.1], [-0.7, -0.9]]),
        why="The bounds are 1 - 0.3 = 0.7 and 1 + 0.28 = 1.28. Only the first token of each row is clipped.",
        keywords={"clip_low": 0.3, "clip_high": 0.28},
        shown=True,
    ),
    Case("A ratio of 1", ([1.0], [2.0]), np.array([2.0]), why="A ratio of 1 is within the bounds."),
    Case("A tiny advantage", ([1.5], [1e-13]), np.array([1.2e-13]), why="A tiny advantage is not 0."),
    Case(
        "Close to the bounds",
        ([0.01 - 5e-10, 0.011, 1 + 4e-9], [-100.0, -100.0, 1.0], 0.99, 0.0),
        np.array([-1.0, -1.1, 1.0]),
        why="The bounds are 0.01 and 1. The first and the last ratio are just outside.",
    ),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
