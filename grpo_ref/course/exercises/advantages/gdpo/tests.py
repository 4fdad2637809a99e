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

AGREED = Pattern("integers, some equal", lambda source, values: np.round(SOME_CONSTANT.make(source, values)))

GROUPWISE = (MIXED, BINARY, LEVELS, AGREED, SCALED_ROWS, ONE_FAR_OUT)


def differ(values):
    """Return whether some advantage is more than rounding error divided by eps twice. Integers leave no rounding
    error.
    """
    components, weights = np.asarray(values["components"]), np.asarray(values["weights"])
    are_integers = bool((components == np.floor(components)).all())
    return are_integers or components.shape[1] == 1 or bool((np.ptp(components, axis=1) * weights).any())


DOMAIN = Domain(
    {
        "components": Real(
            "P G K",
            (-10, 10),
            rows=tuple(map(one_axis_before, GROUPWISE)),
            meaning="reward of each completion by each criterion",
        ),
        "weights": Real("K", (-5, 5), at=(0, 1), meaning="w, weight of each criterion"),
        "eps": Scalar(1e-4, (1e-4, 1), at=(1,), meaning="added to each standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "K": (1, 3)},
    large={"P": 40, "G": 40},
    rules=(
        Rule(
            "The advantages that you return are never all 0 up to rounding, unless G is 1 or all rewards are integers.",
            differ,
        ),
    ),
)


def reference(components, weights, eps=1e-4):
    components, weights = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    return normalized_then_summed(components, weights, ddof=0, eps=eps)


def ignores_units(answer):
    components, weights = np.array([[[10.0, 3.0], [0.0, 1.0], [0.0, 2.0]]]), np.array([1.0, 0.5])
    same = np.allclose(answer(components, weights), answer(components * [1.0, 3.0], weights), atol=1e-4)
    return (
        None
        if same
        else "three times the rewards of one criterion should change nothing but the effect of eps"
    )


FIRST_SUM = 0.5 / 0.5001 - 0.5 * 3.0 / 3.0001
"""The weighted sum a of the first completion in the example with the default eps."""

CHECKS = (
    Case(
        "Two criteria with different spreads",
        ([[[1, 0], [0, 9]]], [1.0, 0.5], 0.5),
        np.array([[1 / 11, -1 / 11]]),
        why=(
            "The standard deviations are 0.5 and 4.5. First completion: 0.5 / 1 = 0.5 and -4.5 / 5 = -0.9, so"
            " a = 0.5 - 0.5 · 0.9 = 0.05; the second has -0.05. Their standard deviation is 0.05: 0.05 / 0.55."
        ),
        shown=True,
    ),
    Case(
        "Two groups and the default `eps`",
        ([[[1, 2], [0, 8]], [[1, 5], [1, 5]]], [1, 0.5]),
        np.array([[FIRST_SUM, -FIRST_SUM], [0.0, 0.0]]) / (FIRST_SUM / np.sqrt(2.0) + 1e-4),
        why=(
            "First completion: 0.5 / 0.5001 - 0.5 · 3 / 3.0001 = 0.499817. So a has the values 0.499817, -0.499817, 0"
            " and 0, with the standard deviation 0.353424: 0.499817 / 0.353524."
        ),
        shown=True,
    ),
    Case(
        "Both criteria agree",
        ([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], [1.0, 1.0], 0.5),
        np.array([[1.0, -1.0], [0.0, 0.0]]) / (1.0 / np.sqrt(2.0) + 0.5),
        why=(
            "In the first group each criterion gives ±0.5 / (0.5 + 0.5), together ±1; in the second group all give 0."
            " The standard deviation of 1, -1, 0 and 0 is 1/√2: 1 / (0.7071 + 0.5)."
        ),
    ),
    Case(
        "A criterion with equal rewards adds nothing",
        ([[[1, 0.1], [0, 0.1]]], [1.0, 5.0], 0.5),
        np.array([[0.5, -0.5]]),
        why="The first criterion gives ±0.5, the second 0; the standard deviation of ±0.5 is 0.5: 0.5 / (0.5 + 0.5).",
    ),
    Case(
        "A penalty",
        ([[[1, 4], [0, 0]]], [1, -2], 1),
        np.array([[-1.0, 1.0]]) * 0.5,
        why="First completion: 0.5 / 1.5 - 2 · 2 / 3 = -1, and -1 / (1 + 1) after the last step.",
    ),
    Case(
        "All rewards are equal",
        ([[[1, 2], [1, 2], [1, 2]]], [1.0, 1.0], 0.5),
        np.zeros((1, 3)),
        why="0 / (0 + 0.5) in both normalizations.",
    ),
    Case(
        "Groups of one",
        ([[[3.0, 1.0]], [[5.0, 2.0]]], [1.0, 1.0]),
        np.zeros((2, 1)),
        why="A group of one is its own mean, whatever rewards the other groups have.",
    ),
    Holds(
        "The units of a criterion do not matter",
        ignores_units,
        why="Each criterion is divided by its own standard deviation.",
    ),
    Unchanged((np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([1.0, 0.5]))),
)
