"""The tests of `clinic/easy_and_hard`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "The second prompt has nothing to teach",
        (
            [[[[3, 0], [3, 0], [3, 0]], [[9, 9], [9, 9], [9, 9]]]],
            [[[0.25, 0.75, 0.75], [0.25, 0.25, 0.25]]],
            1.0,
        ),
        np.array([[1 / 3, -1 / 3], [0.0, 0.0]]),
        why="On the first prompt A is 2, -1 and -1, and the gradients add up to [2, -2], divided by 6. On the"
        " second prompt A is 0.",
        shown=True,
    ),
    Case(
        "Two groups of one",
        ([[[[5, 1]], [[2, 0]]]], [[[0.25], [0.25]]]),
        np.zeros((2, 2)),
        why="Each reward is the mean of its group, so A is 0.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.5], [0.25, 0.25]]], 1.0),
        np.array([[0.125, -0.125], [0.0, 0.0]]),
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Holds(
        "A long run learns the best arms",
        learns_bandits,
        why="two prompts with four arms each, 150 updates of 16 pulls",
    ),
    Unchanged((np.ones((2, 2, 2, 2)), np.full((2, 2, 2), 0.3))),
)
