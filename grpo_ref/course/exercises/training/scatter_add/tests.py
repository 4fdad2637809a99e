"""The tests of `training/scatter_add`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Made, Real, Unchanged, Whole
from grpo_ref.learning.policies import table as policy

DOMAIN = Domain(
    {
        "weights": Real("N", (-1e4, 1e4), meaning="what is to be added"),
        "states": Whole((0, "S - 1"), axes="N", meaning="the row of each weight"),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="the column of each weight"),
        "n_states": Made(lambda context: context.sizes["S"], "S, the number of rows of the table, from 1"),
        "n_tokens": Made(lambda context: context.sizes["V"], "V, the number of its columns, from 1"),
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
        ([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 2], 2, 3),
        np.array([[1.0, 0, 0], [2, 0, 3]]),
        why="1 goes to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2. All other entries are 0.",
        shown=True,
    ),
    Case(
        "The same entry twice",
        ([1.0, 2.0], [1, 1], [0, 0], 2, 2),
        np.array([[0.0, 0], [3, 0]]),
        why="Both weights belong to row 1, column 0: 1 + 2 = 3.",
        shown=True,
    ),
    Case(
        "Weights of both signs",
        ([1.0, -1.0, 0.5], [0, 0, 0], [1, 1, 0], 1, 2),
        np.array([[0.5, 0.0]]),
        why="1 - 1, and 0.5",
    ),
    Case(
        "The last entries may be unused",
        ([2.0], [0], [0], 3, 2),
        np.array([[2.0, 0], [0, 0], [0, 0]]),
        why="the shape is given",
    ),
    Case(
        "An empty batch",
        (np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=int), 2, 3),
        np.zeros((2, 3)),
        why="nothing was read, so nothing is added",
    ),
    Unchanged((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 0]), 2, 2)),
)
