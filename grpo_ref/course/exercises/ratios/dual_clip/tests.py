"""The tests of `ratios/dual_clip`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T|B N T",
            (1e-8, 1e4),
            usual=((0.1, 8), (1e-8, 1e4)),
            at=(1, "max_ratio", "1 + clip", "1 - clip"),
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go up or down"),
        "max_ratio": Scalar(
            3.0,
            (1.01, 50),
            usual=((1.01, 1.5), (1.5, 6), (1.01, 50)),
            at=("1 + clip",),
            meaning="the cap for bad tokens",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(ratio, advantages, clip=0.2, max_ratio=3.0):
    log_ratio, advantages = np.log(np.asarray(ratio, float)), np.asarray(advantages, float)
    return surrogates.dual_clipped(
        log_ratio, advantages, clip_low=clip, clip_high=clip, max_ratio=max_ratio
    ).value


CHECKS = (
    Case(
        "Far too likely, a bad and a good token",
        ([5.0, 5.0], [-2.0, 1.0]),
        np.array([-6.0, 1.2]),
        why=(
            "Bad token: s = min(5 · -2, 1.2 · -2) = -10, and the floor is 3 · -2 = -6. Good token: s ="
            " min(5, 1.2) = 1.2, and there is no floor."
        ),
        shown=True,
    ),
    Case("Bad token, too likely", ([2.0], [-1.0]), np.array([-2.0]), why="the floor is at -3"),
    Case("Bad token, pushed far enough", ([0.5], [-1.0]), np.array([-0.8]), why="the ordinary clip"),
    Case("Good token, too rare", ([0.5], [2.0]), np.array([1.0]), why="not clipped"),
    Case("max_ratio counts", ([5.0], [-1.0], 0.2, 2.0), np.array([-2.0]), why="max(-5, -2)"),
    Case(
        "A floor within the clip",
        ([2.0, 2.0], [-1.0, 1.0], 0.5, 1.25),
        np.array([-1.25, 1.5]),
        why="max(min(-2, -1.5), -1.25) for the bad token; the good one has no floor: min(2, 1.5)",
    ),
    Unchanged((np.array([5.0, 0.5]), np.array([-1.0, 1.0]))),
)
