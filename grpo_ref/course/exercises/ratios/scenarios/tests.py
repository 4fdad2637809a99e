"""The tests of `ratios/scenarios`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T",
            (1e-4, 1e4),
            usual=((0.1, 2), (1e-4, 1e4)),
            at=(1, "1 + clip", "1 - clip"),
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T", (-1e4, 1e4), meaning="A"),
        "clip": Scalar(0.2, (0, 0.99), usual=((0.05, 0.6), (0, 0.99)), at=(0, 0.5), meaning="ε"),
    },
    sizes={"N": (1, 3), "T": (1, 5)},
    large={"T": 200},
)


def _scenario(ratio, advantages):
    high = np.where(advantages > 0, 1, 2)
    low = np.where(advantages > 0, 3, 4)
    return np.where((ratio == 1) | (advantages == 0), 0, np.where(ratio > 1, high, low))


def _learns(r, a, e):
    return ((a > 0) & (r <= 1 + e)) | ((a < 0) & (r >= 1 - e))


def reference(ratio, advantages, clip=0.2):
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return _scenario(ratio, advantages), _learns(ratio, advantages, clip)


HAIR = 2.0**-40

CHECKS = (
    Case(
        "The four scenarios inside the band",
        ([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7]),
        (np.array([1, 2, 3, 4]), np.array([True, True, True, True])),
        why="The band goes from 0.8 to 1.2; inside it nothing is clipped.",
        shown=True,
    ),
    Case(
        "The four scenarios outside the band",
        ([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7]),
        (np.array([1, 2, 3, 4]), np.array([False, True, True, False])),
        why=(
            "The first token is good and already much likelier, the last one bad and already much rarer: they"
            " stop. The other two moved the wrong way and have to come back."
        ),
        shown=True,
    ),
    Case(
        "On policy",
        ([1.0, 1.0], [1.0, -1.0]),
        (np.array([0, 0]), np.array([True, True])),
        why="a ratio of 1 is in no scenario, and learns",
    ),
    Case(
        "No advantage",
        ([1.1, 0.5], [0.0, 0.0]),
        (np.array([0, 0]), np.array([False, False])),
        why="zero times any ratio has no slope",
    ),
    Case(
        "On the bounds",
        ([1.5, 0.5], [1.0, -1.0], 0.5),
        (np.array([1, 4]), np.array([True, True])),
        why="the slope passes on the closed interval, as PyTorch's clamp has it",
    ),
    Case(
        "A hair from 1, from the bounds, and from no advantage",
        ([1 + HAIR, 1 - HAIR, 1.5 + HAIR, 0.5 - HAIR, 1.1], [1.0, 1.0, 1.0, -1.0, -HAIR], 0.5),
        (np.array([1, 3, 1, 4, 2]), np.array([True, True, False, False, True])),
        why="all comparisons are exact",
    ),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
