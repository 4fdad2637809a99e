"""The tests of `clinic/large_groups`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "One update by hand",
        ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0),
        np.array([[2 / 3, -2 / 3]]),
        why="A is 1, 1 and -2. The gradients add up to [2, -2], divided by 3.",
        shown=True,
    ),
    Case(
        "Two prompts",
        (
            [[[[1, 0], [1, 0], [1, 0], [1, 0]], [[0, 2], [0, 2], [0, 2], [0, 2]]]],
            [[[0.25, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.75]]],
        ),
        np.array([[3 / 16, -3 / 16], [-3 / 8, 3 / 8]]),
        why="The gradients add up to [3/4, -3/4] and [-3/2, 3/2]. The step is a quarter of them.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.5]]], 1.0),
        np.array([[2 / 3, -2 / 3]]),
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Holds(
        "A long run learns the best arms",
        learns_bandits,
        why="two prompts with four arms each, 150 updates of 16 pulls",
    ),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
