"""The tests of `advantages/centered`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.course.author import GROUPS, Case, Domain, Holds, Real, Unchanged

DOMAIN = Domain(
    {"rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt, a group in each")},
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards):
    return group_centered(np.asarray(rewards, dtype=float))


def _scale(f):
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.5]])
    kept = np.allclose(np.asarray(f(3.0 * rewards)), 3.0 * np.asarray(f(rewards)), atol=1e-9)
    return None if kept else "three times the rewards should give three times the advantages"


CHECKS = (
    Case(
        "One of four is right",
        ([[1, 0, 0, 0]],),
        np.array([[0.75, -0.25, -0.25, -0.25]]),
        why="The mean is 1/4: 1 - 1/4, and three times 0 - 1/4.",
        shown=True,
    ),
    Case("Groups do not mix", ([[0, 2], [5, 5]],), np.array([[-1.0, 1.0], [0, 0]]), why="means 1 and 5"),
    Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="it is its own mean"),
    Case(
        "A lonely winner",
        ([[0, 0, 3]],),
        np.array([[-1.0, -1.0, 2.0]]),
        why="the mean is 1, the median 0",
    ),
    Holds("The scale is kept", _scale, why="nothing is divided by"),
    Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
)
