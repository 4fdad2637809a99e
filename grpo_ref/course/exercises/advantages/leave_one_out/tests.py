"""The tests of `advantages/leave_one_out`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import leave_one_out
from grpo_ref.course.author import GROUPS, Case, Domain, Real, Unchanged

DOMAIN = Domain(
    {"rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt, a group in each")},
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards):
    return leave_one_out(np.asarray(rewards, dtype=float))


CHECKS = (
    Case(
        "One of three",
        ([[1, 0, 0]],),
        np.array([[1.0, -0.5, -0.5]]),
        why="The others of the first got 0 and 0: 1 - 0. The others of the second got 1 and 0: 0 - 1/2; the same for the third.",
        shown=True,
    ),
    Case("Everyone agrees", ([[2, 2, 2]],), np.zeros((1, 3)), why="each is worth what the others are"),
    Case("Two of a kind", ([[3, 1]],), np.array([[2.0, -2.0]]), why="with two, the other is the baseline"),
    Case("A group of one", ([[5.0], [1.0]],), np.zeros((2, 1)), why="no others, no signal, and no 0/0"),
    Case("Groups do not mix", ([[1, 0], [7, 7]],), np.array([[1.0, -1.0], [0, 0]]), why="the sum is over G"),
    Unchanged((np.array([[1.0, 0.0, 0.0]]),)),
)
