"""The tests of `advantages/leave_one_out`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import leave_one_out
from grpo_ref.course.author import GROUPS, Case, Domain, Real, Unchanged

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
    return leave_one_out(np.asarray(rewards, dtype=float))


CHECKS = (
    Case(
        "One of three is right",
        ([[1, 0, 0]],),
        np.array([[1.0, -0.5, -0.5]]),
        why="The others of the first completion have the mean 0: 1 - 0. Those of the second have the mean 1/2: 0 - 1/2.",
        shown=True,
    ),
    Case(
        "Groups do not mix",
        ([[4, 1, 1], [6, 6, 3]],),
        np.array([[3.0, -1.5, -1.5], [1.5, 1.5, -3.0]]),
        why="First row: 4 - (1 + 1) / 2 and 1 - (4 + 1) / 2. Second row: 6 - (6 + 3) / 2 and 3 - (6 + 6) / 2.",
        shown=True,
    ),
    Case(
        "Groups of one",
        ([[5], [1]],),
        np.zeros((2, 1)),
        why="There is no other completion, so the advantage is 0.",
        shown=True,
    ),
    Case(
        "All rewards are equal",
        ([[2, 2, 2]],),
        np.zeros((1, 3)),
        why="Each reward equals the mean of the others.",
    ),
    Case("A group of two", ([[3, 1]],), np.array([[2.0, -2.0]]), why="The other reward is the baseline."),
    Case(
        "One success among 300",
        ([[1.0] + [0.0] * 299],),
        np.array([[1.0] + [-1.0 / 299.0] * 299]),
        why="The others of the success have the mean 0; those of the other completions have the mean 1/299.",
    ),
    Unchanged((np.array([[1.0, 0.0, 0.0]]),)),
)
