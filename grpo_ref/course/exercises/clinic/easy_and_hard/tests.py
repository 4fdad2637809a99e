"""The tests of `clinic/easy_and_hard`: the inputs that its statement allows, the right answer, the checks."""

from typing import Any

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.bandits import BANDITS, learns_bandits, on_bandits

reference = on_bandits(RIGHT)

ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.75], [0.25, 0.25]]], 1.0)

DOMAIN = BANDITS
CHECKS = (
    Case(
        "One update by hand",
        ONE,
        np.array([[0.125, -0.125], [0.0, 0.0]]),
        why="Both arms of the first prompt are drawn once and pay 1 and 0, so A = 1/2 and -1/2. The two draws"
        " add 1/2 · [1/2, -1/2] and -1/2 · [-1/2, 1/2], each with weight 1/4: [1/8, -1/8]. The second prompt"
        " pays 9 to both members: A = 0 for both, and nothing moves.",
        shown=True,
    ),
    Case(
        "A number on the edge",
        ([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.5], [0.25, 0.25]]], 1.0),
        np.array([[0.125, -0.125], [0.0, 0.0]]),
        why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
    ),
    Holds("It learns the best arms", learns_bandits, why="an easy and a hard prompt, 150 updates"),
    Unchanged((np.ones((2, 2, 2, 2)), np.full((2, 2, 2), 0.3))),
)
