"""The tests of `clinic/falling_reward`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "One update by hand",
        ([[[[1, 0], [1, 0], [1, 0], [1, 0]]]], [[[0.25, 0.25, 0.25, 0.75]]], 1.0),
        np.array([[3 / 16, -3 / 16]]),
        why="A is 1/4 for the three pulls of arm 0 and -3/4 for the pull of arm 1. The gradients add up to"
        " [3/4, -3/4], divided by 4.",
        shown=True,
    ),
    Case(
        "Two updates",
        ([[[[1, 0], [1, 0]]], [[[0, 3], [0, 3]]]], [[[0.25, 0.75]], [[0.6, 0.8]]], 2.1972246),
        np.array([[-1.0, 1.0]]) * 2.1972246 / 2,
        why="The gradient is [1/4, -1/4] in the first update and [-3/4, 3/4] in the second.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0),
        np.array([[0.25, -0.25]]),
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Holds(
        "A long run learns the best arms",
        learns_bandits,
        why="two prompts with four arms each, 150 updates of 16 pulls",
    ),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
