"""The tests of `clinic/walking_away`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import CONSTANT, LEVELS, MIXED, Case, Domain, Real, Scalar, Unchanged
from grpo_ref.course.exercises.bandits import LEARNING_RATE, PAYOFFS, SIZES, UNIFORMS

DOMAIN = Domain(
    {
        "start": Real("P V", (-5, 5), rows=(MIXED, CONSTANT, LEVELS), meaning="logits to begin with"),
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 3), at=(1, 3)),
        "kl_coef": Scalar(0.1, (0, 2), at=(0, 1), meaning="weight of the penalty"),
    },
    sizes=SIZES,
    large={"U": 24, "P": 12, "G": 40},
)


def of(loop, scale=1.0):
    def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update, tokens, mask):
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        return loop(start, verify, uniforms[..., None], learning_rate, kl_coef=scale * kl_coef)

    return train


reference = of(RIGHT)

NOTHING_TO_GAIN = ([[0.0, 0.0]], np.zeros((2, 1, 2, 2)), np.full((2, 1, 2), 0.25), 1.0, 1.0)

RTOL = 1e-8
CHECKS = (
    Case(
        "One update by hand",
        ([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 0.5),
        np.array([[0.25, -0.25]]),
        why="at the start v = 0 and the penalty has no slope yet",
    ),
    Case(
        "The leash pulls back",
        (
            [[0.0, 0.0]],
            [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]]],
            [[[0.25, 0.75]], [[0.1, 0.1]]],
            4.0 * np.log(3.0) / 2.0,
            1.0,
        ),
        np.array([[0.5, -0.5]]) * np.log(3.0)
        - 2.0 * np.log(3.0) * (1.0 - 2.0 / 3.0) * np.array([[0.25, -0.25]]),
        why="In the first update the arms are drawn once each and pay 1 and 0; the penalty has no slope yet, and"
        " the step is 2.197 · [1/4, -1/4] = [0.549, -0.549]. Now π is 3/4 and 1/4. In the second update both"
        " draw arm 0 and nothing is paid: A = 0, and the slope of the penalty is 1 - (1/2)/(3/4) = 1/3 for both."
        " That takes 2.197 · 1/3 · [1/4, -1/4] = [0.183, -0.183] back.",
        shown=True,
    ),
    Case(
        "A number on the edge",
        ([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 0.5),
        np.array([[0.25, -0.25]]),
        why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
    ),
    Case("Nothing to gain", NOTHING_TO_GAIN, np.zeros((1, 2)), why="at the reference nothing pulls"),
    Unchanged((np.array([[0.5, -0.5]]), np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
