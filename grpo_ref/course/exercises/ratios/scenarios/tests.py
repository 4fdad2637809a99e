"""The tests of `ratios/scenarios`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Rule, Scalar, Unchanged


def is_clear_of_rounding(values):
    """Return whether no comparison with a bound is decided by rounding."""
    ratio, clip = np.asarray(values["ratio"]), values["clip"]
    distances = abs(np.stack([ratio - (1 + clip), ratio - (1 - clip)]))
    return clip in (0, 0.2, 0.5) or bool((distances >= 1e-12).all())


DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T",
            (1e-4, 1e4),
            usual=((0.1, 2), (1e-4, 1e4)),
            at=(1, "1 + clip", "1 - clip"),
            meaning="r = πθ/πold, ratio of each token",
        ),
        "advantages": Real("|T|N T", (-1e4, 1e4), meaning="A, advantage of each token"),
        "clip": Scalar(
            0.2,
            (0, 0.99),
            usual=((0.05, 0.6), (0, 0.99)),
            at=(0, 0.2, 0.5),
            meaning="ε, half-width of the clip range",
        ),
    },
    sizes={"N": (1, 3), "T": (1, 5)},
    large={"T": 200},
    rules=(Rule("A ratio is exactly on a bound only if ε is 0, 0.2 or 0.5.", is_clear_of_rounding),),
)


def scenario_of(ratio, advantages):
    high = np.where(advantages > 0, 1, 2)
    low = np.where(advantages > 0, 3, 4)
    return np.where((ratio == 1) | (advantages == 0), 0, np.where(ratio > 1, high, low))


def learns(ratio, advantages, clip):
    good = (advantages > 0) & (ratio <= 1 + clip)
    bad = (advantages < 0) & (ratio >= 1 - clip)
    return good | bad


def reference(ratio, advantages, clip=0.2):
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return scenario_of(ratio, advantages), learns(ratio, advantages, clip)


HAIR = 2.0**-40
"""A difference that is small, but not lost in rounding."""

CHECKS = (
    Case(
        "Within the bounds, every token learns",
        ([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7]),
        (np.array([1, 2, 3, 4]), np.array([True, True, True, True])),
        why="The bounds are 0.8 and 1.2, so no token is clipped.",
        shown=True,
    ),
    Case(
        "Outside the bounds, two of the four stop",
        ([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7]),
        (np.array([1, 2, 3, 4]), np.array([False, True, True, False])),
        why=(
            "The first token is good and already much more likely. The last token is bad and already much less"
            " likely. The other two moved in the wrong direction."
        ),
        shown=True,
    ),
    Case(
        "Scenario 0 can learn",
        ([1.0, 1.0, 1.1], [0.7, -0.7, 0.0]),
        (np.array([0, 0, 0]), np.array([True, True, False])),
        why=(
            "The ratio of the first two tokens is 1, which is within the bounds, and their advantage is not 0."
            " The third token has no advantage."
        ),
        shown=True,
    ),
    Case(
        "On a bound and beyond it",
        ([[1.5, 1.6], [0.5, 0.4]], [[1.0, 1.0], [-1.0, -1.0]]),
        (np.array([[1, 1], [4, 4]]), np.array([[True, False], [True, False]])),
        why="The bounds are 0.5 and 1.5. On a bound, the token still learns.",
        keywords={"clip": 0.5},
        shown=True,
    ),
    Case(
        "Tiny differences count",
        ([1 + HAIR, 1 - HAIR, 1.5 + HAIR, 0.5 - HAIR, 1.1], [1.0, 1.0, 1.0, -1.0, -HAIR], 0.5),
        (np.array([1, 3, 1, 4, 2]), np.array([True, True, False, False, True])),
        why="All comparisons are exact: with 1, with the bounds, and of the advantage with 0.",
    ),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
