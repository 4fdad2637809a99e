"""The tests of `ratios/cispo`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "|T|N T|B N T",
            (-300, 300),
            usual=((-2, 3), (-30, 30), (-300, 300)),
            at=(0, "log(max_ratio)"),
            meaning="log πθ - log πold, in nats",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A, advantage of each token"),
        "max_ratio": Scalar(
            5.0, (0.1, 100), usual=((0.5, 6), (0.1, 100)), at=(1,), meaning="largest weight of a token"
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(log_ratio, advantages, max_ratio=5.0):
    log_ratio, advantages = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return surrogates.cispo(log_ratio, np.zeros_like(log_ratio), advantages, max_ratio=max_ratio).direct


CHECKS = (
    Case(
        "A ratio of 1, and ratios above the cap",
        ([0.0, 2.0, 2.0], [2.0, 3.0, -3.0]),
        np.array([2.0, 15.0, -15.0]),
        why=(
            "The first weight is exp(0) = 1, so the slope is A. exp(2) = 7.39 is above the cap, so the weight is"
            " 5 for the good and for the bad token. Their slopes are capped, but not 0."
        ),
        shown=True,
    ),
    Case(
        "No lower bound",
        ([[-0.6931472, 0.0953102], [0.6931472, 3.0]], [[2.0, -1.0], [1.0, -1.0]]),
        np.array([[2.0 * np.exp(-0.6931472), -np.exp(0.0953102)], [1.28, -1.28]]),
        why="First row: 0.5 · 2 and 1.1 · -1. In the second row both weights are capped at 1.28.",
        keywords={"max_ratio": 1.28},
        shown=True,
    ),
    Case(
        "A cap below 1",
        (0.0, 3.0),
        1.5,
        why="The ratio is 1, which is above the cap: 0.5 · 3.",
        keywords={"max_ratio": 0.5},
        shown=True,
    ),
    Case(
        "Close to the cap",
        (np.log([0.1 + 8e-10]), [1.0], 0.1),
        np.array([0.1]),
        why="The cap is 0.1, and the ratio is just above it.",
    ),
    Unchanged((np.array([0.5]), np.array([1.0]))),
)
