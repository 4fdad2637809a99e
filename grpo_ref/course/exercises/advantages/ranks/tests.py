"""The tests of `advantages/ranks`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import ranked
from grpo_ref.course.author import GROUPS, HAIRS_APART, Case, Domain, Holds, Real, Unchanged

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G",
            (-1e4, 1e4),
            rows=(*GROUPS, HAIRS_APART),
            meaning="reward of each completion, one row per prompt",
        )
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards):
    return ranked(np.asarray(rewards, dtype=float))


def uses_only_the_order(answer):
    rewards = np.array([[0.1, 2.0, 0.5, 0.5]])
    same = np.allclose(answer(rewards), answer(np.exp(3.0 * rewards)), atol=1e-9)
    return None if same else "other rewards in the same order should give the same advantages"


CHECKS = (
    Case(
        "Two groups without ties",
        ([[0.1, 30.0, 0.2], [7, 8, 9]],),
        np.array([[-2.0, 2.0, 0.0], [-2.0, 0.0, 2.0]]),
        why="The ranks are 3, 1, 2 and 3, 2, 1. Rank 1 gives 2, rank 2 gives 2 - 4 · 1/2, rank 3 gives 2 - 4 · 2/2.",
        shown=True,
    ),
    Case(
        "A tie for the best",
        ([[5, 1, 5, 0]],),
        np.array([[4 / 3, -2 / 3, 4 / 3, -2]]),
        why="The two best share the ranks 1 and 2: 2 - 4 · 0.5/3. Ranks 3 and 4 give 2 - 4 · 2/3 and 2 - 4 · 3/3.",
        shown=True,
    ),
    Case(
        "One success, and no difference at all",
        ([[1, 0, 0, 0], [0.1, 0.1, 0.1, 0.1]],),
        np.array([[2.0, -2 / 3, -2 / 3, -2 / 3], [0.0, 0.0, 0.0, 0.0]]),
        why="Three completions share the ranks 2, 3 and 4. In the second row, all share the rank 2.5.",
        shown=True,
    ),
    Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="A group of one completion gets 0."),
    Case(
        "The smallest differences",
        (np.array([[0.1, np.nextafter(0.1, 1.0)], [1e-15, 0.0], [1e-15, 1e-15]]),),
        np.array([[-2.0, 2.0], [2.0, -2.0], [0.0, 0.0]]),
        why="Rewards are compared exactly.",
    ),
    Case(
        "300 different rewards",
        (np.arange(300.0)[None],),
        np.linspace(-2.0, 2.0, 300)[None],
        why="The advantages are evenly spaced from -2 to 2.",
    ),
    Holds("Only the order counts", uses_only_the_order, why="The ranks depend on the order alone."),
    Unchanged((np.array([[1.0, 0.0, 3.0]]),)),
)
