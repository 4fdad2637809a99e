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
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "max_ratio": Scalar(5.0, (0.1, 100), usual=((0.5, 6), (0.1, 100)), at=(1,), meaning="the cap"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(log_ratio, advantages, max_ratio=5.0):
    log_ratio, advantages = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return surrogates.cispo(log_ratio, np.zeros_like(log_ratio), advantages, max_ratio=max_ratio).direct


CHECKS = (
    Case(
        "On policy and above the cap",
        ([0.0, 2.0, 2.0], [2.0, 3.0, -3.0]),
        np.array([2.0, 15.0, -15.0]),
        why=(
            "The first weight is exp(0) = 1. exp(2) = 7.39 is above the cap, so the weight is 5 for the good and"
            " for the bad token: capped, but not 0."
        ),
        shown=True,
    ),
    Case("A low ratio", (np.log([0.5]), [2.0]), np.array([1.0]), why="there is no lower bound"),
    Case(
        "Another cap",
        ([np.log(2.0), np.log(1.1), 3.0], [1.0, 1.0, 1.0], 1.28),
        np.array([1.28, 1.1, 1.28]),
        why="min(2, 1.28), min(1.1, 1.28) and min(exp(3), 1.28)",
    ),
    Unchanged((np.array([0.5]), np.array([1.0]))),
)
