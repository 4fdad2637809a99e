"""The tests of `advantages/process`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import step_suffix_sums
from grpo_ref.course.author import (
    BINARY,
    CONSTANT,
    LEVELS,
    MIXED,
    NEAR_TIES,
    ONE_FAR_OUT,
    SCALED_ROWS,
    SOME_CONSTANT,
    Case,
    Domain,
    Holds,
    Mask,
    Pattern,
    Real,
    Scalar,
    Unchanged,
)

ALIKE = Pattern(
    "equal within some groups",
    lambda source, values: np.where(
        source.flags((*values.shape[:-2], 1, 1)), np.round(values[..., :1, :1]), values
    ),
)

DOMAIN = Domain(
    {
        "step_rewards": Real(
            "P G T",
            (-10, 10),
            rows=(
                MIXED,
                BINARY,
                LEVELS,
                CONSTANT,
                SOME_CONSTANT,
                ALIKE,
                NEAR_TIES,
                SCALED_ROWS,
                ONE_FAR_OUT,
            ),
            padding="step_ends",
            meaning="the reward of the step that ends at a token, for the T tokens of each of G completions to P prompts",
        ),
        "step_ends": Mask("P G T", meaning="1 where a step ends, 0 elsewhere"),
        "eps": Scalar(1e-4, (1e-4, 1), at=(1,), meaning="added to the standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "T": (1, 6)},
    large={"P": 40, "G": 40, "T": 40},
)


def reference(step_rewards, step_ends, eps=1e-4):
    return step_suffix_sums(
        np.asarray(step_rewards, dtype=float), np.asarray(step_ends, dtype=float), ddof=0, eps=eps
    )


def _half(apart):
    """Return the magnitude of the scores of two steps whose rewards differ by this much."""
    return 0.5 * apart / (0.5 * apart + 1e-4)


WIDE, NARROW = 2.0**-27, 2.0**-40

REWARDS = np.array(
    [[[3.0, 9.0, 1.0, 0.0], [0.0, 2.0, 5.0, 9.0]], [[0.5, 0.0, 0.0, 2.0], [9.0, 9.0, 9.0, 9.0]]]
)

ENDS = np.array([[[1, 0, 1, 0], [1, 1, 1, 0]], [[1, 0, 0, 1], [0, 0, 0, 0]]])


def _shift(f):
    same = np.allclose(f(REWARDS, ENDS), f(REWARDS + 3.0, ENDS), atol=1e-9)
    return None if same else "3 more for every step should change nothing"


def _first_tokens(f):
    first = np.asarray(f(REWARDS, ENDS))[:, :, 0].sum(1)
    balanced = np.allclose(first, 0.0, atol=1e-9)
    return None if balanced else "the advantages of the first tokens of a group should sum to 0"


CHECKS = (
    Case(
        "Two completions of two steps",
        ([[[3, 9, 3], [1, 1, 9]]], [[[1, 0, 1], [1, 1, 0]]], 1),
        np.array([[[1.0, 0.5, 0.5], [-1.0, -0.5, 0.0]]]),
        why=(
            "The four steps have the rewards 3, 3, 1 and 1; the two 9 belong to no step. Their mean is 2 and their"
            " standard deviation 1, so the steps of the first completion get (3 - 2) / (1 + 1) = 0.5 each and those"
            " of the second -0.5. In the first completion both steps end at its first token or later: 0.5 + 0.5 ="
            " 1. Only the second step ends at its second token or later: 0.5. In the second completion no step"
            " ends at the last token: 0."
        ),
        shown=True,
    ),
    Case(
        "Where no step ends, anything may stand",
        ([[[np.nan, 4.0, np.inf], [0.0, np.nan, 7.0]]], [[[0, 1, 0], [1, 0, 0]]], 0.5),
        np.array([[[0.8, 0.8, 0.0], [-0.8, 0.0, 0.0]]]),
        why=(
            "There are two steps, with the rewards 4 and 0: their mean is 2 and so is their standard deviation."
            " 2 / (2 + 0.5) = 0.8 for the tokens up to the end of the first, -2 / 2.5 = -0.8 for those up to the"
            " end of the second."
        ),
        shown=True,
    ),
    Case(
        "A completion of many steps counts more",
        ([[[1, 1, 1], [5, 0, 0]]], [[[1, 1, 1], [1, 0, 0]]], 1),
        np.array([[[-3.0, -2.0, -1.0], [3.0, 0.0, 0.0]]]) / (1.0 + np.sqrt(3.0)),
        why="mean (1 + 1 + 1 + 5) / 4 = 2, std √((1 + 1 + 1 + 9) / 4) = √3; the steps have -1 and 3 over √3 + 1",
    ),
    Case(
        "A group of one completion",
        ([[[0.0, 1.0]]], [[[1, 1]]]),
        np.array([[[0.0, 0.5 / 0.5001]]]),
        why="its two steps are compared with one another: ±0.5 / (0.5 + 1e-4), which cancel at the first token",
    ),
    Case(
        "A single step",
        ([[[0.0, 3.0], [0.0, 0.0]]], [[[0, 1], [0, 0]]]),
        np.zeros((1, 2, 2)),
        why="it is its own mean",
    ),
    Case(
        "A group without any step",
        ([[[2, 5], [7, 1]], [[4, 0], [0, 0]]], [[[0, 0], [0, 0]], [[1, 0], [0, 1]]], 2),
        np.array([[[0.0, 0.0], [0.0, 0.0]], [[0.5, 0.0], [-0.5, -0.5]]]),
        why="nothing to sum, and no 0/0; in the other group mean and std are 2: ±2 / (2 + 2)",
    ),
    Case(
        "A completion without a step",
        ([[[4, 9], [9, 9], [9, 0]]], [[[1, 0], [0, 0], [0, 1]]], 2),
        np.array([[[0.5, 0.0], [0.0, 0.0], [-0.5, -0.5]]]),
        why="it gets 0 and is no part of mean 2 and std 2",
    ),
    Case(
        "All steps are equal",
        ([[[1, 1, 1], [1, 1, 1]]], [[[1, 0, 1], [0, 1, 0]]]),
        np.zeros((1, 2, 3)),
        why="no contrast, no signal, and no 0/0",
    ),
    Case(
        "Groups do not mix",
        ([[[0, 2]], [[8, 2]]], [[[1, 1]], [[1, 1]]], 1),
        np.array([[[0.0, 0.5]], [[0.0, -0.75]]]),
        why="mean 1 and std 1 in the first group, 5 and 3 in the second: 1 / (1 + 1) and -3 / (3 + 1)",
    ),
    Case(
        "Truth values as a mask",
        ([[[4.0, 9.0], [9.0, 0.0]]], np.array([[[True, False], [False, True]]]), 2),
        np.array([[[0.5, 0.0], [-0.5, -0.5]]]),
        why="a mask may be bool; mean and std are 2",
    ),
    Case(
        "Two steps a hair apart",
        ([[[8.0], [8.0 + WIDE]], [[8.0], [8.0 + NARROW]]], [[[1], [1]], [[1], [1]]]),
        np.array([[[-1.0], [1.0]]]) * [[[_half(WIDE)]], [[_half(NARROW)]]],
        why=(
            "the steps of a group are 2⁻²⁷ or 2⁻⁴⁰ apart, d say, and their deviations ±d/2 are exact in floating"
            " point: ±(d/2) / (d/2 + 1e-4). The squares of the rewards do not hold such a difference any more"
        ),
    ),
    Case(
        "A completion of 300 steps",
        (np.tile([1.0, -1.0], 150)[None, None], np.ones((1, 1, 300)), 1),
        np.tile([0.0, -0.5], 150)[None, None],
        why="the mean of 1, -1, 1, -1 and so on is 0 and the std 1: ±0.5, which cancel in pairs from the end",
    ),
    Case(
        "A group of 300 completions",
        (np.tile([[[0.0, 1.0], [0.0, -1.0]]], (1, 150, 1)), np.tile([[[0, 1]]], (1, 300, 1)), 1),
        np.tile([[[0.5, 0.5], [-0.5, -0.5]]], (1, 150, 1)),
        why="one step in each, 1 and -1 by turns, at the last token: ±1 / (1 + 1) for both tokens",
    ),
    Case(
        "300 prompts",
        (np.tile([[[0.0, 2.0]]], (300, 1, 1)), np.ones((300, 1, 2)), 1),
        np.tile([[[0.0, 0.5]]], (300, 1, 1)),
        why="in each group mean and std are 1: -0.5 and 0.5, which cancel at the first token",
    ),
    Holds("The same for every step changes nothing", _shift, why="only differences within a group count"),
    Holds(
        "The first tokens of a group sum to 0",
        _first_tokens,
        why="every step ends at its completion's first token or later, and all steps of a group sum to 0",
    ),
    Unchanged((REWARDS, ENDS)),
)
