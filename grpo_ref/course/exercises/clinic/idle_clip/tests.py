"""The tests of `clinic/idle_clip`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace
from typing import Any

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
)

DOMAIN = Domain(
    {
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 4), at=(1, 4)),
        "steps": Whole((1, 5), default=4, meaning="how often each batch is used"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="how far the ratio may go from 1"
        ),
    },
    sizes={**SIZES, "U": (1, 3)},
    rules=(ONE_STEP_WITHOUT_A_CLIP,),
)


def of(loop, **fixed):
    def train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
        settings = {"epochs": steps, "clip": clip} | fixed
        return on_bandits(loop, **settings)(payoffs, uniforms, learning_rate)

    return train


reference = of(RIGHT)

ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)

RTOL = 1e-8
CHECKS = (
    Case(
        "Two steps by hand, the second one clipped",
        ONE,
        np.array([[1.0, -1.0]]),
        why="Both arms are drawn once and pay 1 and 0, so A = 1/2 and -1/2. In the first step r = 1 and the"
        " gradient is [1/4, -1/4]; times 4 that gives logits [1, -1]. Now π is 0.88 and 0.12, the ratios are"
        " 1.76 and 0.24: the good arm is above 1.2, the bad one below 0.8, and the second step adds nothing.",
        shown=True,
    ),
    Case(
        "One step is always on policy",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 1, 0.2),
        np.array([[0.25, -0.25]]),
        why="the ratio is 1",
    ),
    Case(
        "A number on the edge",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 1, 0.2),
        np.array([[0.25, -0.25]]),
        why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
    ),
    Case(
        "On the bound itself",
        (*ONE[:3], 1, 0.0),
        np.array([[1.0, -1.0]]),
        why="with clip 0 the first step is on both bounds, and it is taken",
    ),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
