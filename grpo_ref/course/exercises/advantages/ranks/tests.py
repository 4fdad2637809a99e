"""The tests of `advantages/ranks`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import ranked
from grpo_ref.course.author import GROUPS, HAIRS_APART, Case, Domain, Holds, Real, Unchanged

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G", (-1e4, 1e4), rows=(*GROUPS, HAIRS_APART), meaning="one row per prompt, a group in each"
        )
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards):
    return ranked(np.asarray(rewards, dtype=float))


def _monotone(f):
    rewards = np.array([[0.1, 2.0, 0.5, 0.5]])
    same = np.allclose(f(rewards), f(np.exp(3.0 * rewards)), atol=1e-9)
    return None if same else "a reward model that exaggerates, but orders alike, should change nothing"


CHECKS = (
    Case(
        "Three different rewards",
        ([[0.1, 30.0, 0.2]],),
        np.array([[-2.0, 2.0, 0.0]]),
        why="30 is the best, rank 1: 2 - 0 = 2. Then 0.2, rank 2: 2 - 4/2 = 0. Then 0.1, rank 3: 2 - 8/2 = -2.",
        shown=True,
    ),
    Case(
        "A tie for the best",
        ([[5, 1, 5, 0]],),
        np.array([[4 / 3, -2 / 3, 4 / 3, -2]]),
        why="The two best share the ranks 1 and 2: 2 - 4 · 0.5/3 = 4/3. Ranks 3 and 4 give 2 - 8/3 and 2 - 12/3.",
        shown=True,
    ),
    Case("Everyone agrees", ([[0.1, 0.1, 0.1]],), np.zeros((1, 3)), why="all have the mean rank"),
    Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="nobody to compare with"),
    Case(
        "Groups do not mix",
        ([[0, 1], [9, 8]],),
        np.array([[-2.0, 2.0], [2.0, -2.0]]),
        why="ranks within each row",
    ),
    Case(
        "The smallest differences",
        (np.array([[0.1, np.nextafter(0.1, 1.0)], [1e-20, 0.0], [1e-20, 1e-20]]),),
        np.array([[-2.0, 2.0], [2.0, -2.0], [0.0, 0.0]]),
        why="rewards are compared exactly",
    ),
    Holds("A monotone distortion changes nothing", _monotone, why="only the order counts"),
    Unchanged((np.array([[1.0, 0.0, 3.0]]),)),
)
