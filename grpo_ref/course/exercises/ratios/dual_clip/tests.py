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
            meaning="r = πθ/πold of each token",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A, advantage of each token"),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="half-width of PPO's clip range"),
        "max_ratio": Scalar(
            3.0,
            (1.01, 50),
            usual=((1.01, 1.5), (1.5, 6), (1.01, 50)),
            at=("1 + clip",),
            meaning="the limit is max_ratio A",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(ratio, advantages, clip=0.2, max_ratio=3.0):
    log_ratio, advantages = np.log(np.asarray(ratio, dtype=float)), np.asarray(advantages, dtype=float)
    return surrogates.dual_clipped(
        log_ratio, advantages, clip_low=clip, clip_high=clip, max_ratio=max_ratio
    ).value


CHECKS = (
    Case(
        "The limit is for bad tokens only",
        ([5.0, 5.0], [-2.0, 1.0]),
        np.array([-6.0, 1.2]),
        why=(
            "Bad token: s = min(5 · -2, 1.2 · -2) = -10. The limit is 3 · -2 = -6, and max(-10, -6) = -6. Good"
            " token: s = min(5, 1.2) = 1.2, without a limit."
        ),
        shown=True,
    ),
    Case(
        "Below the limit, PPO's clip is unchanged",
        ([0.5, 2.0], [-1.0, -1.0]),
        np.array([-0.8, -2.0]),
        why=(
            "First token: s = min(-0.5, -0.8) = -0.8. Second token: s = min(-2, -1.2) = -2. The limit of both is"
            " -3, so it does not act."
        ),
        shown=True,
    ),
    Case(
        "A limit within the clip range",
        ([[2.0, 2.0], [1.1, 0.4]], [[-1.0, 1.0], [-1.0, -1.0]]),
        np.array([[-1.25, 1.5], [-1.1, -0.5]]),
        why=(
            "First row: max(min(-2, -1.5), -1.25) = -1.25 for the bad token, and min(2, 1.5) = 1.5 for the good"
            " one. Second row: max(-1.1, -1.25) = -1.1 and max(min(-0.4, -0.5), -1.25) = -0.5."
        ),
        keywords={"clip": 0.5, "max_ratio": 1.25},
        shown=True,
    ),
    Case(
        "A good token that is too rare",
        ([0.5], [2.0]),
        np.array([1.0]),
        why="s = min(0.5 · 2, 0.8 · 2) = 1: the token is not clipped.",
    ),
    Case(
        "Another limit",
        ([5.0], [-1.0], 0.2, 2.0),
        np.array([-2.0]),
        why="The limit is 2 · -1, and max(-5, -2) = -2.",
    ),
    Case(
        "Close to the lower bound",
        ([0.01 - 5e-10], [-1.0], 0.99),
        np.array([-0.01]),
        why="The lower bound is 0.01, and the ratio is just below it.",
    ),
    Unchanged((np.array([5.0, 0.5]), np.array([-1.0, 1.0]))),
)
