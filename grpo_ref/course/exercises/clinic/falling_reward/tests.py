"""The tests of `clinic/falling_reward`: the inputs that its statement allows, the right answer, the checks."""

from typing import Any

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "One update by hand",
        ONE,
        np.array([[0.25, -0.25]]),
        why="Both arms have probability 1/2; 0.25 draws arm 0, which pays 1, and 0.75 draws arm 1, which pays 0."
        " The mean reward is 1/2, so A = 1/2 and -1/2. The first draw adds 1/2 · [1/2, -1/2], the second"
        " -1/2 · [-1/2, 1/2], and the mean of both is [1/4, -1/4].",
        shown=True,
    ),
    Case(
        "A number on the edge",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0),
        np.array([[0.25, -0.25]]),
        why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
    ),
    Holds("It learns the best arms", learns_bandits, why="two prompts, 150 updates"),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
