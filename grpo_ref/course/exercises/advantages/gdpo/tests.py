"""The tests of `advantages/gdpo`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import normalized_then_summed
from grpo_ref.course.author import (
    BINARY,
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    SCALED_ROWS,
    SOME_CONSTANT,
    Case,
    Domain,
    Holds,
    Pattern,
    Real,
    Rule,
    Scalar,
    Unchanged,
    one_axis_before,
)

AGREED = Pattern(
    "whole numbers, some equal", lambda source, values: np.round(SOME_CONSTANT.make(source, values))
)

GROUPWISE = (MIXED, BINARY, LEVELS, AGREED, SCALED_ROWS, ONE_FAR_OUT)


def _differ(values):
    """Return whether some advantage is more than rounding error divided by eps twice. Whole numbers leave no
    rounding error.
    """
    components, weights = np.asarray(values["components"]), np.asarray(values["weights"])
    are_whole = bool((components == np.floor(components)).all())
    return are_whole or components.shape[1] == 1 or bool((np.ptp(components, axis=1) * weights).any())


DOMAIN = Domain(
    {
        "components": Real(
            "P G K",
            (-10, 10),
            rows=tuple(map(one_axis_before, GROUPWISE)),
            meaning="the rewards of the G completions of each prompt by K criteria",
        ),
        "weights": Real("K", (-5, 5), at=(0, 1), meaning="w, one for each criterion"),
        "eps": Scalar(1e-4, (1e-4, 1), at=(1,), meaning="added to every standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "K": (1, 3)},
    large={"P": 40, "G": 40},
    rules=(
        Rule(
            "If G is above 1 and some reward is no whole number, some criterion of a weight other than 0 sets a"
            " group's completions apart.",
            _differ,
        ),
    ),
)


def reference(components, weights, eps=1e-4):
    components, weights = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    return normalized_then_summed(components, weights, ddof=0, eps=eps)


def _scale(f):
    components, weights = np.array([[[100.0, 30.0], [0.0, 10.0], [0.0, 20.0]]]), np.array([1.0, 0.5])
    same = np.allclose(f(components, weights), f(components * [1.0, 100.0], weights), atol=1e-4)
    return None if same else "a criterion counted in other units should change nothing"


CHECKS = (
    Case(
        "Two criteria of different scale",
        ([[[1, 0], [0, 9]]], [1.0, 0.5], 0.5),
        np.array([[1 / 11, -1 / 11]]),
        why=(
            "The stds are 1/2 and 9/2. The first completion has 0.5 / 1 = 0.5 and -4.5 / 5 = -0.9, together"
            " 0.5 - 0.5 · 0.9 = 0.05; the second has -0.05. Their std is 0.05: 0.05 / 0.55 = 1/11."
        ),
        shown=True,
    ),
    Case(
        "One group agrees on everything",
        ([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], [1.0, 1.0], 0.5),
        np.array([[1.0, -1.0], [0.0, 0.0]]) / (1.0 / np.sqrt(2.0) + 0.5),
        why=(
            "In the first group each criterion gives ±0.5 / (0.5 + 0.5), together ±1; in the second all give 0."
            " Over the batch 1, -1, 0 and 0 have the std 1/√2: 1 / (0.7071 + 0.5) = 0.8284."
        ),
        shown=True,
    ),
    Case(
        "A criterion on which the group agrees adds nothing",
        ([[[1, 0.1], [0, 0.1]]], [1.0, 5.0], 0.5),
        np.array([[0.5, -0.5]]),
        why="±1/2 from the first, 0 from the second; the std of the batch is 1/2: 0.5 / (0.5 + 0.5)",
    ),
    Case(
        "Nobody differs",
        ([[[1, 2], [1, 2], [1, 2]]], [1.0, 1.0], 0.5),
        np.zeros((1, 3)),
        why="0 / (0 + 0.5) in both normalizations",
    ),
    Case(
        "Groups of one",
        ([[[3.0, 1.0]], [[5.0, 2.0]]], [1.0, 1.0]),
        np.zeros((2, 1)),
        why="a group of one is its own mean, whatever the other groups have",
    ),
    Holds("The units of a criterion do not matter", _scale, why="each is divided by its own spread"),
    Unchanged((np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([1.0, 0.5]))),
)
