"""The tests of `advantages/mixed_groups`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import filters
from grpo_ref.course.author import GROUPS, HAIRS_APART, Case, Domain, Real, Unchanged

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
    return filters.mixed_groups(np.asarray(rewards, dtype=float))


CHECKS = (
    Case(
        "Mixed, all right, all wrong",
        ([[1, 0], [1, 1], [0, 0]],),
        np.array([True, False, False]),
        why="The rewards of the first group differ; the second group is all right and the third all wrong.",
        shown=True,
    ),
    Case(
        "Partial credit",
        ([[0.5, 0.25, 0.5], [0.1, 0.1, 0.1]],),
        np.array([True, False]),
        why="0.25 differs from 0.5. The rewards of the second group are equal.",
        shown=True,
    ),
    Case(
        "Groups of one",
        ([[2], [0]],),
        np.array([False, False]),
        why="A single completion has no other completion from which it could differ.",
        shown=True,
    ),
    Case(
        "Differences that cancel",
        ([[-1.0, 1.0], [2.0, 0.0]],),
        np.array([True, True]),
        why="The rewards differ, whatever their sum and mean are.",
    ),
    Case(
        "The smallest differences",
        (np.array([[0.1, np.nextafter(0.1, 1.0)], [0.0, 1e-15], [1e-15, 1e-15]]),),
        np.array([True, True, False]),
        why="Rewards are compared exactly.",
    ),
    Case(
        "The last of 300",
        (np.array([[0.5] * 299 + [0.0], [0.5] * 300]),),
        np.array([True, False]),
        why="The last reward of the first group differs from the others.",
    ),
    Unchanged((np.array([[1.0, 0.0]]),)),
)
