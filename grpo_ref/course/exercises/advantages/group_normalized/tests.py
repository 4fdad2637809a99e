"""The tests of `advantages/group_normalized`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import GROUPS, Case, Domain, Holds, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G", (-1e4, 1e4), rows=GROUPS, meaning="reward of each completion, one row per prompt"
        ),
        "eps": Scalar(1e-4, (1e-8, 1), at=(1e-8, 1e-6, 1), meaning="added to the standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def reference(rewards, eps=1e-4):
    return group_normalized(np.asarray(rewards, dtype=float), ddof=0, eps=eps)


def ignores_a_shift(answer):
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.0]])
    same = np.allclose(answer(rewards, 1e-4), answer(rewards + 3.0, 1e-4), atol=1e-9)
    return None if same else "3 more for every completion should change nothing"


CHECKS = (
    Case(
        "One of two is right",
        ([[0, 1]],),
        np.array([[-1, 1]]) / 1.0002,
        why="The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.",
        shown=True,
    ),
    Case(
        "Groups do not mix",
        ([[0, 1], [5, 5]], 0.5),
        np.array([[-0.5, 0.5], [0.0, 0.0]]),
        why="First row: 0.5 / (0.5 + 0.5). Second row: 0 / (0 + 0.5).",
        shown=True,
    ),
    Case(
        "A rare success counts more",
        ([[1, 0, 0, 0]],),
        np.array([[0.75, -0.25, -0.25, -0.25]]) / (np.sqrt(3.0) / 4.0 + 1e-4),
        why="The mean is 1/4 and the standard deviation √0.1875 = 0.433013: 0.75 / 0.433113 and -0.25 / 0.433113.",
        shown=True,
    ),
    Case(
        "All rewards are equal",
        ([[1, 1, 1]],),
        np.zeros((1, 3)),
        why="Every reward is the mean, and eps keeps the fraction finite.",
    ),
    Case(
        "One success among 65",
        ([[1.0] + [0.0] * 64],),
        np.array([[64.0] + [-1.0] * 64]) / (8.0 + 65e-4),
        why="Mean 1/65, standard deviation 8/65: the success gets nearly 8, and no bound limits it.",
    ),
    Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="A single completion is its own mean."),
    Holds(
        "Shifting all rewards changes nothing",
        ignores_a_shift,
        why="Only differences within a group count.",
    ),
    Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
)
