"""The tests of `advantages/group_normalized`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import GROUPS, Case, Domain, Holds, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt"),
        "eps": Scalar(
            1e-4, (1e-8, 1), at=(1e-8, 1e-6, 1), meaning="keeps a group of equal rewards at 0 instead of 0/0"
        ),
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards, eps=1e-4):
    return group_normalized(np.asarray(rewards, dtype=float), ddof=0, eps=eps)


def _shift(f):
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.0]])
    same = np.allclose(f(rewards, 1e-4), f(rewards + 3.0, 1e-4), atol=1e-9)
    return None if same else "3 more for every completion should change nothing"


CHECKS = (
    Case(
        "One of two is right",
        ([[0, 1]],),
        np.array([[-1, 1]]) / 1.0002,
        why="The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.",
        shown=True,
    ),
    Case("Everyone agrees", ([[1, 1, 1]],), np.zeros((1, 3)), why="no contrast, no signal, and no 0/0"),
    Case(
        "Groups do not mix",
        ([[0, 1], [5, 5]],),
        np.array([[-1 / 1.0002, 1 / 1.0002], [0, 0]]),
        why="the mean is over G, not over P",
    ),
    Case(
        "One success among 65",
        ([[1.0] + [0.0] * 64],),
        np.array([[64.0] + [-1.0] * 64]) / (8.0 + 65e-4),
        why="mean 1/65, std 8/65: the success gets 64/65 over 8/65 + 1e-4, nearly 8, and nothing holds it back",
    ),
    Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="it is its own mean"),
    Case("eps counts", ([[0, 1]], 0.5), np.array([[-0.5, 0.5]]), why="0.5 / (0.5 + 0.5)"),
    Holds("Shifting all rewards changes nothing", _shift, why="only differences within a group count"),
    Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
)
