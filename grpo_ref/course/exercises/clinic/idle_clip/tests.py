"""The tests of `clinic/idle_clip`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Domain, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.bandits import (
    LEARNING_RATE,
    ONE_STEP_WITHOUT_A_CLIP,
    PAYOFFS,
    SIZES,
    UNIFORMS,
    on_bandits,
    without_ties,
)


def of(loop):
    """Return the exercise's function, made of this loop."""

    def train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
        return on_bandits(loop, epochs=steps, clip=clip)(payoffs, uniforms, learning_rate)

    return train


reference = of(RIGHT)

DOMAIN = Domain(
    {
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 4), at=(1, 4)),
        "steps": Whole((1, 5), default=4, meaning="number of steps on each batch"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="half-width of the allowed range of r"
        ),
    },
    sizes={**SIZES, "U": (1, 3)},
    rules=(
        ONE_STEP_WITHOUT_A_CLIP,
        without_ties("Rounding never decides which arm is selected or which pull is clipped.", of),
    ),
)

RTOL = 1e-8
CHECKS = (
    Case(
        "Two steps",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2),
        np.array([[1.0, -1.0]]),
        why="The first step is 4 · [1/4, -1/4]. In the second step the ratios are 1.76 and 0.24, and both pulls"
        " are clipped.",
        shown=True,
    ),
    Case(
        "Two updates of three steps",
        ([[[[1, 0], [1, 0]]], [[[1, 0], [1, 0]]]], [[[0.25, 0.75]], [[0.25, 0.75]]], 0.5, 3),
        np.array([[0.5289578860946125, -0.5289578860946125]]),
        why="Both pulls are clipped in the third step of the first update, and only the pull of arm 1 in the"
        " third step of the second update.",
        shown=True,
    ),
    Case(
        "With one step the ratio is 1",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 1, 0.2),
        np.array([[0.25, -0.25]]),
        why="The current policy has sampled the batch.",
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 1, 0.2),
        np.array([[0.25, -0.25]]),
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Case(
        "A ratio on both bounds",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 1, 0.0),
        np.array([[1.0, -1.0]]),
        why="With clip 0, a ratio of 1 is on both bounds, and a pull on a bound is not clipped.",
    ),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
