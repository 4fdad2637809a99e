"""The tests of `clinic/walking_away`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import CONSTANT, LEVELS, MIXED, Case, Domain, Real, Scalar, Unchanged
from grpo_ref.course.exercises.bandits import (
    LEARNING_RATE,
    NO_ARM_BY_ROUNDING,
    PAYOFFS,
    SIZES,
    UNIFORMS,
    without_ties,
)


def of(loop, scale=1.0):
    """Return the exercise's function, made of this loop; `scale` multiplies kl_coef."""

    def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update, tokens, mask):
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        return loop(start, verify, uniforms[..., None], learning_rate, kl_coef=scale * kl_coef)

    return train


reference = of(RIGHT)

DOMAIN = Domain(
    {
        "start": Real("P V", (-5, 5), rows=(MIXED, CONSTANT, LEVELS), meaning="initial logits"),
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 3), at=(1, 3)),
        "kl_coef": Scalar(0.1, (0, 2), at=(0, 1), meaning="weight of the KL penalty"),
    },
    sizes=SIZES,
    large={"U": 24, "P": 12, "G": 40},
    rules=(without_ties(NO_ARM_BY_ROUNDING, of),),
)


def pulled_back(logit):
    """Return the first logit after an update in which the penalty alone moves [logit, -logit]."""
    prob = 1.0 / (1.0 + np.exp(-2.0 * logit))
    return logit - 2.1972246 * (1.0 - 0.5 / prob) * (1.0 - prob)


SECOND = pulled_back(2.1972246 / 4)

RTOL = 1e-8
CHECKS = (
    Case(
        "Defaults, and a start that is not uniform",
        ([[1.0986123, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.8]]]),
        np.array([[1.5986123, -0.5]]),
        why="A is 1/2 and -1/2, the penalty has slope 0, and the gradient is [1/4, -1/4].",
        shown=True,
    ),
    Case(
        "The penalty pulls back",
        (
            [[0.0, 0.0]],
            [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]]],
            [[[0.25, 0.75]], [[0.1, 0.1]]],
            2.1972246,
            1.0,
        ),
        np.array([[SECOND, -SECOND]]),
        why="In the second update A is 0, and the slope of the penalty is 1/3 for both pulls of arm 0.",
        shown=True,
    ),
    Case(
        "A third update",
        (
            [[0.0, 0.0]],
            [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]], [[[0, 0], [0, 0]]]],
            [[[0.25, 0.75]], [[0.1, 0.1]], [[0.1, 0.1]]],
            2.1972246,
            1.0,
        ),
        np.array([[pulled_back(SECOND), -pulled_back(SECOND)]]),
        why="The reference is the policy at the start in every update.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 0.5),
        np.array([[0.25, -0.25]]),
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Case(
        "Equal rewards at the reference",
        ([[0.0, 0.0]], np.zeros((2, 1, 2, 2)), np.full((2, 1, 2), 0.25), 1.0, 1.0),
        np.zeros((1, 2)),
        why="A is 0, and the penalty has slope 0 at the reference.",
    ),
    Unchanged((np.array([[0.5, -0.5]]), np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
