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
            meaning="one row per sampled token",
        ),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="id of the sampled token in each row"),
        "gradient": Real("N", (-1e4, 1e4), meaning="g: ∂L/∂log π of each sampled token"),
    },
    sizes={"N": (1, 4), "V": (1, 5)},
    large={"N": 80, "V": 80},
)


def reference(logits, tokens, gradient):
    logits, tokens, gradient = np.asarray(logits, float), np.asarray(tokens), np.asarray(gradient, float)
    cube, states = (1, 1, -1), np.arange(len(logits)).reshape(1, 1, -1)
    probs = policy.policy_of(logits).probs
    return policy.pull_back(gradient.reshape(cube), states, tokens.reshape(cube), probs)


def rows_sum_to_zero(f):
    rows = f(np.array([[0.3, -0.2, 1.0], [0.0, 2.0, 0.5]]), np.array([0, 2]), np.array([1.0, -2.0]))
    if np.allclose(np.asarray(rows).sum(-1), 0.0):
        return None
    return "each row should sum to 0, because adding a constant to a row of logits does not change π"


ODDS = np.exp(1.0986123)
"""Nearly 3. The probabilities of the second row of the second example are ODDS to 1."""

CHECKS = (
    Case(
        "A fair coin",
        ([[0, 0]], [0], [1]),
        np.array([[0.5, -0.5]]),
        why="π is 1/2 for both tokens: 1 · (1 - 1/2) = 0.5 and 1 · (0 - 1/2) = -0.5.",
        shown=True,
    ),
    Case(
        "Two rows",
        ([[0, 0, -1000], [1.0986123, -1000, 0]], [0, 2], [1, -2]),
        np.array([[0.5, -0.5, 0.0], [2 * ODDS / (1 + ODDS), 0.0, -2 * ODDS / (1 + ODDS)]]),
        why="In the second row π is 3/4, 0 and 1/4: -2 · (0 - 3/4) = 1.5 and -2 · (1 - 1/4) = -1.5.",
        shown=True,
    ),
    Case(
        "Large logits",
        ([[1000, 0]], [1], [1]),
        np.array([[-1.0, 1.0]]),
        why="π is 1 and 0: 1 · (0 - 1) = -1 and 1 · (1 - 0) = 1.",
        shown=True,
    ),
    Case(
        "A derivative of 0",
        ([[1.0, 2.0]], [0], [0.0]),
        np.zeros((1, 2)),
        why="g is 0, so all derivatives are 0.",
    ),
    Holds("Rows sum to zero", rows_sum_to_zero, why="Only differences of logits matter to the softmax."),
    Unchanged((np.array([[1.0, 2.0]]), np.array([0]), np.array([1.0]))),
)
