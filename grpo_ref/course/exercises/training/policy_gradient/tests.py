"""The tests of `training/policy_gradient`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import LEVELS, MIXED, OFFSET_ROWS, Case, Domain, Holds, Real, Unchanged, Whole
from grpo_ref.learning.policies import table as policy

DOMAIN = Domain(
    {
        "logits": Real(
            "N V",
            (-1000, 1000),
            usual=((-2, 2), (-5, 5)),
            at=(800, -800),
            rows=(MIXED, LEVELS, OFFSET_ROWS),
            meaning="one row for each token that was drawn",
        ),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="the number of the token that was drawn in each row"),
        "gradient": Real("N", (-1e4, 1e4), meaning="g, the derivative ∂L/∂log π(token) of each row"),
    },
    sizes={"N": (1, 4), "V": (1, 5)},
    large={"N": 80, "V": 80},
)


def reference(logits, tokens, gradient):
    logits, tokens, gradient = np.asarray(logits, float), np.asarray(tokens), np.asarray(gradient, float)
    cube, states = (1, 1, -1), np.arange(len(logits)).reshape(1, 1, -1)
    probs = policy.policy_of(logits).probs
    return policy.pull_back(gradient.reshape(cube), states, tokens.reshape(cube), probs)


def _rows_sum_to_zero(f):
    rows = f(np.array([[0.3, -0.2, 1.0], [0.0, 2.0, 0.5]]), np.array([0, 2]), np.array([1.0, -2.0]))
    return (
        None
        if np.allclose(np.asarray(rows).sum(-1), 0.0)
        else "each row should sum to 0: adding a constant to the logits changes nothing"
    )


CHECKS = (
    Case(
        "A fair coin",
        ([[0.0, 0.0]], [0], [1.0]),
        np.array([[0.5, -0.5]]),
        why="π = 1/2, 1/2. The token drawn is 0: 1 - 1/2 = 0.5, and for the other 0 - 1/2 = -0.5.",
        shown=True,
    ),
    Case(
        "Odds of 3 to 1",
        (np.log([[3.0, 1.0]]), [1], [2.0]),
        np.array([[-1.5, 1.5]]),
        why="2 (0 - 3/4), 2 (1 - 1/4)",
    ),
    Case("No gradient", ([[1.0, 2.0]], [0], [0.0]), np.zeros((1, 2)), why="nothing to pass on"),
    Case(
        "Large logits",
        (np.array([[1000.0, 0.0]]), [1], [1.0]),
        np.array([[-1.0, 1.0]]),
        why="π is 1 and 0",
    ),
    Holds("Rows sum to zero", _rows_sum_to_zero, why="the softmax knows differences only"),
    Unchanged((np.array([[1.0, 2.0]]), np.array([0]), np.array([1.0]))),
)
