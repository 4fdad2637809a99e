"""The tests of `advantages/mixed_groups`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import filters
from grpo_ref.course.author import GROUPS, HAIRS_APART, Case, Domain, Real, Unchanged

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
    return filters.mixed_groups(np.asarray(rewards, dtype=float))


CHECKS = (
    Case(
        "Mixed, all right, all wrong",
        ([[1, 0], [1, 1], [0, 0]],),
        np.array([True, False, False]),
        why="The rewards of the first group differ; the second is all right and the third all wrong.",
        shown=True,
    ),
    Case(
        "Equal rewards that are not round",
        (np.full((1, 3), 0.1),),
        np.array([False]),
        why="0.1 three times is no contrast",
    ),
    Case("A group of one", ([[1.0]],), np.array([False]), why="nothing to differ from"),
    Case("Partial credit", ([[0.5, 0.5, 0.25]],), np.array([True]), why="any difference counts"),
    Case(
        "Differences that cancel",
        ([[-1.0, 1.0], [2.0, 0.0]],),
        np.array([True, True]),
        why="the mean does not matter",
    ),
    Case(
        "The smallest differences",
        (np.array([[0.1, np.nextafter(0.1, 1.0)], [0.0, 1e-20], [1e-20, 1e-20]]),),
        np.array([True, True, False]),
        why="rewards are compared exactly",
    ),
    Unchanged((np.array([[1.0, 0.0]]),)),
)
