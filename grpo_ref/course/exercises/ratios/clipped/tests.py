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
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), at=(0,), meaning="A"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="how far it may go up"),
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
        "A good and a bad token have become likelier",
        ([1.5, 1.5], [1.0, -2.0]),
        np.array([1.2, -3.0]),
        why=(
            "Good token: 1.5 is held at 1.2, and min(1.5 · 1, 1.2 · 1) = 1.2. Bad token: min(1.5 · -2, 1.2 · -2)"
            " = min(-3, -2.4) = -3, so it is not held."
        ),
        shown=True,
    ),
    Case("On policy", ([1.0], [2.0]), np.array([2.0]), why="a ratio of 1 is not clipped"),
    Case("Good token, still too rare", ([0.5], [1.0]), np.array([0.5]), why="min(0.5, 0.8)"),
    Case("Bad token, pushed far enough", ([0.5], [-1.0]), np.array([-0.8]), why="min(-0.5, -0.8)"),
    Case(
        "Clip higher",
        ([1.5, 0.5], [1.0, -1.0], 0.3, 0.28),
        np.array([1.28, -0.7]),
        why="up to 1 + 0.28 and down to 1 - 0.3: the two half-widths have names of their own",
    ),
    Case("A tiny advantage", ([1.5], [1e-13]), np.array([1.2e-13]), why="small is not 0"),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
