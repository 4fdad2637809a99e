"""The tests of `ratios/clipped_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Holds, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "|T|N T|B N T",
            (-300, 300),
            usual=((-2, 2), (-30, 30), (-300, 300)),
            at=(0, "log(1 + clip_high) + 1e-9", "log(1 - clip_low) - 1e-9", "clip_high", "-clip_low"),
            meaning="log πθ - log πold, in nats",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="how far it may go up"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    return surrogates.clipped(
        np.asarray(log_ratio, dtype=float),
        np.asarray(advantages, dtype=float),
        clip_low=clip_low,
        clip_high=clip_high,
    ).slope


def _is_the_derivative(f):
    x, a = np.array([-0.9, -0.1, 0.1, 0.9] * 2), np.array([1.5] * 4 + [-1.5] * 4)

    def surrogate(z):
        return np.minimum(np.exp(z) * a, np.clip(np.exp(z), 0.8, 1.2) * a)

    numerical = (surrogate(x + 1e-6) - surrogate(x - 1e-6)) / 2e-6
    return (
        None
        if np.allclose(np.asarray(f(x, a)), numerical, atol=1e-8)
        else "it differs from a central difference of the surrogate"
    )


CHECKS = (
    Case(
        "Far up, with both signs, and on policy",
        ([1.0, 1.0, 0.0], [3.0, -3.0, 2.0]),
        np.array([0.0, -3.0 * np.exp(1.0), 2.0]),
        why=(
            "The first two ratios are exp(1) = 2.71828, above 1.2. The good token is held there: 0. The bad one"
            " is not: 2.71828 · -3. The third ratio is 1, and the slope is A."
        ),
        shown=True,
    ),
    Case("Good token, pushed far enough", (np.log([1.5]), [1.0]), np.zeros(1), why="the clip holds it"),
    Case("Good token, still too rare", (np.log([0.5]), [1.0]), np.array([0.5]), why="r A"),
    Case("Bad token, pushed far enough", (np.log([0.5]), [-1.0]), np.zeros(1), why="the clip holds it"),
    Case("Bad token, still too likely", (np.log([1.5]), [-1.0]), np.array([-1.5]), why="r A"),
    Case(
        "Clip higher",
        (np.log([1.25, 0.75]), [2.0, -1.0], 0.2, 0.28),
        np.array([2.5, 0.0]),
        why="1.25 is below 1 + 0.28, so the good token pushes; 0.75 is below 1 - 0.2, so the bad one stops",
    ),
    Case(
        "Close to the bounds",
        (np.log([0.81, 0.825, 1.19, 1.21]), [-1.0, -1.0, 1.0, 1.0]),
        np.array([-0.81, -0.825, 1.19, 0.0]),
        why="the bounds are 0.8 and 1.2, so only the last token stops",
    ),
    Case(
        "On the bound a token still pushes",
        ([0.0, 0.0], [1.0, -1.0], 0.0, 0.0),
        np.array([1.0, -1.0]),
        why="exp(0) is exactly 1, and half-widths of 0 put the bound there",
    ),
    Holds("It is the derivative of the surrogate", _is_the_derivative, why="checked by central differences"),
    Unchanged((np.array([0.5, -0.5]), np.array([1.0, -1.0]))),
)
