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
            meaning="reward of the step that ends at each token",
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


def score(apart):
    """Return the magnitude of the scores of two steps whose rewards differ by this much."""
    return 0.5 * apart / (0.5 * apart + 1e-4)


WIDE, NARROW = 2.0**-27, 2.0**-40

REWARDS = np.array(
    [[[3.0, 9.0, 1.0, 0.0], [0.0, 2.0, 5.0, 9.0]], [[0.5, 0.0, 0.0, 2.0], [9.0, 9.0, 9.0, 9.0]]]
)

ENDS = np.array([[[1, 0, 1, 0], [1, 1, 1, 0]], [[1, 0, 0, 1], [0, 0, 0, 0]]])


def ignores_a_shift(answer):
    same = np.allclose(answer(REWARDS, ENDS), answer(REWARDS + 3.0, ENDS), atol=1e-9)
    return None if same else "3 more for every step should change nothing"


def first_tokens_sum_to_zero(answer):
    first = np.asarray(answer(REWARDS, ENDS))[:, :, 0].sum(1)
    balanced = np.allclose(first, 0.0, atol=1e-9)
    return None if balanced else "the advantages of the first tokens of a group should sum to 0"


CHECKS = (
    Case(
        "Three steps and one",
        ([[[3, 3, 1], [9, 1, 9]]], [[[1, 1, 1], [0, 1, 0]]], 1),
        np.array([[[0.5, 0.0, -0.5], [-0.5, -0.5, 0.0]]]),
        why=(
            "R contains 3, 3, 1 and 1, with mean 2 and standard deviation 1, so the scores are ±1 / (1 + 1). First"
            " completion: 0.5 + 0.5 - 0.5, then 0.5 - 0.5, then -0.5. In the second completion the only step ends at"
            " the second token."
        ),
        shown=True,
    ),
    Case(
        "Groups do not mix",
        ([[[0, 4], [0, 0]], [[6, 9], [2, 9]]], [[[0, 1], [0, 1]], [[1, 0], [1, 0]]]),
        np.array([[[1.0, 1.0], [-1.0, -1.0]], [[1.0, 0.0], [-1.0, 0.0]]]) * (2.0 / 2.0001),
        why="The rewards are 4 and 0, and in the second group 6 and 2. Both standard deviations are 2: ±2 / 2.0001.",
        shown=True,
    ),
    Case(
        "A group with a single step gets 0",
        ([[[5, 5], [7, 7]]], [[[0, 1], [0, 0]]]),
        np.zeros((1, 2, 2)),
        why="The single step is its own mean.",
        shown=True,
    ),
    Case(
        "NaN and infinity where no step ends",
        ([[[np.nan, 4.0, np.inf], [0.0, np.nan, 7.0]]], [[[0, 1, 0], [1, 0, 0]]], 0.5),
        np.array([[[0.8, 0.8, 0.0], [-0.8, 0.0, 0.0]]]),
        why=(
            "The two steps have the rewards 4 and 0, with mean 2 and standard deviation 2: ±2 / (2 + 0.5). Entries"
            " where no step ends do not count."
        ),
    ),
    Case(
        "A completion of many steps counts more",
        ([[[1, 1, 1], [5, 0, 0]]], [[[1, 1, 1], [1, 0, 0]]], 1),
        np.array([[[-3.0, -2.0, -1.0], [3.0, 0.0, 0.0]]]) / (1.0 + np.sqrt(3.0)),
        why=(
            "Mean (1 + 1 + 1 + 5) / 4 = 2, standard deviation √((1 + 1 + 1 + 9) / 4) = √3: the scores are -1 and 3,"
            " divided by √3 + 1."
        ),
    ),
    Case(
        "A group of one completion",
        ([[[0.0, 1.0]]], [[[1, 1]]]),
        np.array([[[0.0, 0.5 / 0.5001]]]),
        why="The two steps have the scores ±0.5 / (0.5 + 1e-4), which cancel at the first token.",
    ),
    Case(
        "A group without any step",
        ([[[2, 5], [7, 1]], [[4, 0], [0, 0]]], [[[0, 0], [0, 0]], [[1, 0], [0, 1]]], 2),
        np.array([[[0.0, 0.0], [0.0, 0.0]], [[0.5, 0.0], [-0.5, -0.5]]]),
        why="The first group has no step, so its advantages are 0. In the other group mean and std are 2: ±2 / (2 + 2).",
    ),
    Case(
        "A completion without a step",
        ([[[4, 9], [9, 9], [9, 0]]], [[[1, 0], [0, 0], [0, 1]]], 2),
        np.array([[[0.5, 0.0], [0.0, 0.0], [-0.5, -0.5]]]),
        why="The completion without a step gets 0. The mean of the other steps is 2 and so is their standard deviation.",
    ),
    Case(
        "All steps are equal",
        ([[[1, 1, 1], [1, 1, 1]]], [[[1, 0, 1], [0, 1, 0]]]),
        np.zeros((1, 2, 3)),
        why="Every reward is the mean, and eps keeps the fraction finite.",
    ),
    Case(
        "Each group has its own spread",
        ([[[0, 2]], [[8, 2]]], [[[1, 1]], [[1, 1]]], 1),
        np.array([[[0.0, 0.5]], [[0.0, -0.75]]]),
        why="Mean 1 and std 1 in the first group, 5 and 3 in the second: 1 / (1 + 1) and -3 / (3 + 1).",
    ),
    Case(
        "Truth values as a mask",
        ([[[4.0, 9.0], [9.0, 0.0]]], np.array([[[True, False], [False, True]]]), 2),
        np.array([[[0.5, 0.0], [-0.5, -0.5]]]),
        why="A mask may hold truth values. Mean and standard deviation are 2.",
    ),
    Case(
        "Two steps with nearly equal rewards",
        ([[[8.0], [8.0 + WIDE]], [[8.0], [8.0 + NARROW]]], [[[1], [1]], [[1], [1]]]),
        np.array([[[-1.0], [1.0]]]) * [[[score(WIDE)]], [[score(NARROW)]]],
        why=(
            "The rewards differ by d = 2⁻²⁷ or d = 2⁻⁴⁰, so the scores are ±(d/2) / (d/2 + 1e-4). A difference of"
            " squares loses such a small d by rounding."
        ),
    ),
    Case(
        "A completion of 300 steps",
        (np.tile([1.0, -1.0], 150)[None, None], np.ones((1, 1, 300)), 1),
        np.tile([0.0, -0.5], 150)[None, None],
        why="1 and -1 alternate, with mean 0 and standard deviation 1: ±0.5, which cancel in pairs from the end.",
    ),
    Case(
        "A group of 300 completions",
        (np.tile([[[0.0, 1.0], [0.0, -1.0]]], (1, 150, 1)), np.tile([[[0, 1]]], (1, 300, 1)), 1),
        np.tile([[[0.5, 0.5], [-0.5, -0.5]]], (1, 150, 1)),
        why="Each completion has one step, at its last token. The rewards 1 and -1 alternate: ±1 / (1 + 1).",
    ),
    Case(
        "300 prompts",
        (np.tile([[[0.0, 2.0]]], (300, 1, 1)), np.ones((300, 1, 2)), 1),
        np.tile([[[0.0, 0.5]]], (300, 1, 1)),
        why="In each group mean and standard deviation are 1: -0.5 and 0.5, which cancel at the first token.",
    ),
    Holds(
        "The same for every step changes nothing",
        ignores_a_shift,
        why="Only differences within a group count.",
    ),
    Holds(
        "The first tokens of a group sum to 0",
        first_tokens_sum_to_zero,
        why="All steps of a completion end at its first token or later, and the scores of a group sum to 0.",
    ),
    Unchanged((REWARDS, ENDS)),
)
