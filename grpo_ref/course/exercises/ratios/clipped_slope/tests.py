"""The tests of `ratios/clipped_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Holds, Real, Rule, Scalar, Unchanged


def is_clear_of_rounding(values):
    """Return whether no comparison with a bound is decided by rounding."""
    log_ratio = np.asarray(values["log_ratio"])
    bounds = (1 + values["clip_high"], 1 - values["clip_low"])
    distances = abs(np.stack([np.exp(log_ratio) - bound for bound in bounds]))
    return bool(((distances >= 1e-12) | ((distances == 0) & (log_ratio == 0))).all())


DOMAIN = Domain(
    {
        "log_ratio": Real(
            "|T|N T|B N T",
            (-300, 300),
            usual=((-2, 2), (-30, 30), (-300, 300)),
            at=(0, "log(1 + clip_high) + 1e-9", "log(1 - clip_low) - 1e-9", "clip_high", "-clip_low"),
            meaning="log πθ - log πold, in nats",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A, advantage of each token"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="lower bound is 1 - clip_low"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="upper bound is 1 + clip_high"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
    rules=(
        Rule(
            "A ratio that is not exactly on a bound differs from it by at least 1e-12.", is_clear_of_rounding
        ),
    ),
)


def reference(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    return surrogates.clipped(
        np.asarray(log_ratio, dtype=float),
        np.asarray(advantages, dtype=float),
        clip_low=clip_low,
        clip_high=clip_high,
    ).slope


def is_the_derivative(function):
    x, a = np.array([-0.9, -0.1, 0.1, 0.9] * 2), np.array([1.5] * 4 + [-1.5] * 4)

    def surrogate(z):
        return np.minimum(np.exp(z) * a, np.clip(np.exp(z), 0.8, 1.2) * a)

    numerical = (surrogate(x + 1e-6) - surrogate(x - 1e-6)) / 2e-6
    is_close = np.allclose(np.asarray(function(x, a)), numerical, atol=1e-8)
    return None if is_close else "the slope differs from a central difference of the surrogate"


CHECKS = (
    Case(
        "Ratios far above 1, and a ratio of 1",
        ([1.0, 1.0, 0.0], [3.0, -3.0, 2.0]),
        np.array([0.0, -3.0 * np.exp(1.0), 2.0]),
        why=(
            "The first two ratios are exp(1) = 2.71828, above the bound 1.2. The good token is clipped, so its"
            " slope is 0. The bad token is not clipped: 2.71828 · -3. The third ratio is 1, so the slope is A."
        ),
        shown=True,
    ),
    Case(
        "Ratios below the lower bound",
        ([-0.6931472, -0.6931472], [1.0, -1.0]),
        np.array([np.exp(-0.6931472), 0.0]),
        why="Good token: s = min(0.5, 0.8) = r A. Bad token: s = min(-0.5, -0.8) = -0.8, which is constant.",
        shown=True,
    ),
    Case(
        "The bounds apply to the ratio, not to its logarithm",
        ([[0.19, 0.26], [-0.21, -0.26]], [[1.0, 1.0], [-1.0, -1.0]]),
        np.array([[0.0, 0.0], [-np.exp(-0.21), 0.0]]),
        why=(
            "The ratios are 1.209 and 1.297 in the first row, both above 1.2. In the second row they are 0.811,"
            " above 0.8, and 0.771, below 0.8."
        ),
        shown=True,
    ),
    Case(
        "On the bound",
        ([0.0, 0.0], [1.0, -1.0]),
        np.array([1.0, -1.0]),
        why="Both bounds are 1, and exp(0) is exactly 1. On a bound, the slope is r A.",
        keywords={"clip_low": 0.0, "clip_high": 0.0},
        shown=True,
    ),
    Case(
        "The two bounds are independent",
        (np.log([1.25, 0.75]), [2.0, -1.0], 0.2, 0.28),
        np.array([2.5, 0.0]),
        why="1.25 is below 1 + 0.28, so the good token is not clipped. 0.75 is below 1 - 0.2: slope 0.",
    ),
    Case(
        "Close to the bounds",
        (np.log([0.81, 0.825, 1.19, 1.21]), [-1.0, -1.0, 1.0, 1.0]),
        np.array([-0.81, -0.825, 1.19, 0.0]),
        why="The bounds are 0.8 and 1.2, so only the last token is clipped.",
    ),
    Holds(
        "The slope is the derivative of the surrogate",
        is_the_derivative,
        why="The slope is compared with central differences of the surrogate.",
    ),
    Unchanged((np.array([0.5, -0.5]), np.array([1.0, -1.0]))),
)
