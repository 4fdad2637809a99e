"""The tests of `advantages/centered`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.course.author import GROUPS, Case, Domain, Holds, Real, Unchanged

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G", (-1e4, 1e4), rows=GROUPS, meaning="reward of each completion, one row per prompt"
        )
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards):
    return group_centered(np.asarray(rewards, dtype=float))


def keeps_the_scale(answer):
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.5]])
    kept = np.allclose(np.asarray(answer(3.0 * rewards)), 3.0 * np.asarray(answer(rewards)), atol=1e-9)
    return None if kept else "three times the rewards should give three times the advantages"


CHECKS = (
    Case(
        "Two prompts",
        ([[1, 0, 0, 0], [1, 1, 0, 0]],),
        np.array([[0.75, -0.25, -0.25, -0.25], [0.5, 0.5, -0.5, -0.5]]),
        why="The means of the two groups are 1/4 and 1/2.",
        shown=True,
    ),
    Case(
        "The mean includes every reward",
        ([[0, 0, 3], [7, 7, 4]],),
        np.array([[-1.0, -1.0, 2.0], [1.0, 1.0, -2.0]]),
        why="The means are (0 + 0 + 3) / 3 = 1 and (7 + 7 + 4) / 3 = 6.",
        shown=True,
    ),
    Case(
        "No difference, no advantage",
        ([[3], [8]],),
        np.zeros((2, 1)),
        why="A single completion is its own mean.",
        shown=True,
    ),
    Case(
        "Negative rewards",
        ([[-1, -3], [-2.5, 0.5]],),
        np.array([[1.0, -1.0], [-1.5, 1.5]]),
        why="The means are -2 and -1.",
    ),
    Case(
        "One success among 300",
        ([[1.0] + [0.0] * 299],),
        np.array([[299.0] + [-1.0] * 299]) / 300.0,
        why="The mean is 1/300.",
    ),
    Holds("The scale is kept", keeps_the_scale, why="Nothing divides the differences."),
    Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
)
