"""The tests of `training/scatter_add`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Made, Real, Unchanged, Whole
from grpo_ref.learning.policies import table as policy

DOMAIN = Domain(
    {
        "weights": Real("N", (-1e4, 1e4), meaning="the numbers to add"),
        "states": Whole((0, "S - 1"), axes="N", meaning="row of each weight in the table"),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="column of each weight in the table"),
        "n_states": Made(
            lambda context: context.sizes["S"],
            "integer, at least 1",
            meaning="S, the number of rows of the table",
        ),
        "n_tokens": Made(
            lambda context: context.sizes["V"],
            "integer, at least 1",
            meaning="V, the number of columns of the table",
        ),
    },
    sizes={"N": (0, 8), "S": (1, 4), "V": (1, 4)},
    large={"N": 300, "S": 30, "V": 300},
)


def reference(weights, states, tokens, n_states, n_tokens):
    weights, states, tokens = np.asarray(weights, float), np.asarray(states), np.asarray(tokens)
    cube = (1, 1, -1)
    return policy.scatter_add(
        weights.reshape(cube), states.reshape(cube), tokens.reshape(cube), (n_states, n_tokens)
    )


CHECKS = (
    Case(
        "Three different entries",
        ([1, 2, 3], [0, 1, 1], [0, 0, 2], 2, 3),
        np.array([[1.0, 0, 0], [2, 0, 3]]),
        why="1 belongs to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2.",
        shown=True,
    ),
    Case(
        "The same entry twice",
        ([1, 2], [1, 1], [0, 0], 2, 2),
        np.array([[0.0, 0], [3, 0]]),
        why="Both weights belong to row 1, column 0: 1 + 2 = 3.",
        shown=True,
    ),
    Case(
        "Weights of both signs, and rows without weights",
        ([1, -3, 0.5], [0, 0, 0], [1, 1, 0], 3, 2),
        np.array([[0.5, -2.0], [0, 0], [0, 0]]),
        why="Column 1 of row 0 gets 1 - 3 = -2, column 0 gets 0.5. Rows 1 and 2 have no weights.",
        shown=True,
    ),
    Case(
        "An empty batch",
        (np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=int), 2, 3),
        np.zeros((2, 3)),
        why="There is no weight, so the whole table is 0.",
    ),
    Unchanged((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 0]), 2, 2)),
)
