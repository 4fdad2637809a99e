"""The tests of `clinic/large_groups`: the inputs that its statement allows, the right answer, the checks."""

from typing import Any

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

ONE: tuple[Any, ...] = ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "One update by hand",
        ONE,
        np.array([[2 / 3, -2 / 3]]),
        why="Arms 0, 0 and 1 are drawn and pay 3, 3 and 0; the mean is 2, so A = 1, 1 and -2. The first two draws"
        " add [1/2, -1/2] each, the third adds -2 · [-1/2, 1/2] = [1, -1]; a third of the sum [2, -2] is the"
        " step.",
        shown=True,
    ),
    Case(
        "A number on the edge",
        ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.5]]], 1.0),
        np.array([[2 / 3, -2 / 3]]),
        why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
    ),
    Holds("It learns the best arms", learns_bandits, why="groups of 16, 150 updates"),
    Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
)
