"""The tests of `training/update`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    OFFSET_ROWS,
    REQUIRED,
    Case,
    Domain,
    Holds,
    Mask,
    Real,
    Rule,
    Scalar,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO

DOMAIN = Domain(
    {
        "logits": Real("S V", (-1000, 1000), rows=(MIXED, LEVELS, OFFSET_ROWS), meaning="one row per state"),
        "states": Whole((0, "S - 1"), axes="N T", meaning="row in which each token was chosen"),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the chosen tokens"),
        "advantages": Real("N", (-100, 100), at=(0,), meaning="A, one per completion"),
        "mask": Mask("N T", meaning="m, 1 on tokens, 0 on padding"),
        "learning_rate": Scalar(REQUIRED, (0.001, 100), at=(1, 100), meaning="step size"),
    },
    sizes={"S": (1, 4), "V": (1, 4), "N": (1, 4), "T": (1, 4)},
    large={"S": 12, "N": 20, "T": 40},
    rules=(Rule("At least one entry of `mask` is 1.", lambda values: bool(np.any(values["mask"]))),),
)


def of(back=pull_back, scale=None, direction=-1.0, probs_of=lambda logits: policy_of(logits).probs):
    """Return the exercise's function with other stages.

    Args:
      back: (gradient, states, tokens, probs) -> gradient with respect to the logits.
      scale: mask (1, N, T) -> factor of the gradient, or None for 1.
      direction: -1 lowers the loss, 1 raises it.
      probs_of: logits -> probabilities in the gradient of the softmax.
    """

    def answer(logits, states, tokens, advantages, mask, learning_rate):
        logits = np.asarray(logits, dtype=float)
        states, tokens, mask = (np.asarray(x)[None] for x in (states, tokens, mask))
        log_probs = gather(policy_of(logits).log_probs, states, tokens)
        result = policy_loss(log_probs, np.asarray(advantages, dtype=float)[None], mask, recipe=DAPO)
        gradient = result.gradient * (1.0 if scale is None else scale(mask))
        return logits + direction * learning_rate * back(gradient, states, tokens, probs_of(logits))

    return answer


reference = of()


def _follows_the_advantage(function):
    logits = np.array([[0.1, -0.2, 0.3]])
    for advantage in (1.0, -1.0):
        new = np.asarray(function(logits, [[0, 0]], [[1, 1]], [advantage], [[1, 1]], 0.1))
        gained = policy_of(new).probs[0, 1] - policy_of(logits).probs[0, 1]
        if not gained * advantage > 0.0:
            return f"with an advantage of {advantage:g} the probability changed by {gained:.3g}"
    return None


UNLIKELY = 1.0 / (1.0 + np.exp(1.0986123))

CHECKS = (
    Case(
        "One good token",
        ([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0),
        np.array([[0.5, -0.5]]),
        why="The step is [1, 0] - [1/2, 1/2].",
        shown=True,
    ),
    Case(
        "An unlikely token",
        ([[1.0986123, 0.0]], [[0]], [[1]], [1.0], [[1]], 1.0),
        np.array([[1.0986123 - 1.0 + UNLIKELY, 1.0 - UNLIKELY]]),
        why="The step is [0, 1] - [3/4, 1/4].",
        shown=True,
    ),
    Case(
        "A state that is visited twice, and padding",
        ([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0),
        np.array([[1.0, -1.0], [0.0, 0.0]]),
        why="Two tokens count, each with weight 1/2. Both add 1/2 · [1/2, -1/2] to the row of state 0.",
        shown=True,
    ),
    Case(
        "Two completions of different lengths",
        (
            [[0.0, 0.0], [0.0, 0.0]],
            [[0, 1], [0, 0]],
            [[0, 1], [1, 0]],
            [1.0, -1.0],
            [[1, 1], [1, 0]],
            3.0,
        ),
        np.array([[1.0, -1.0], [-0.5, 0.5]]),
        why="Each of the three tokens has weight 1/3.",
        shown=True,
    ),
    Case(
        "Padding before and after a token",
        ([[0.0, 0.0], [0.0, 0.0]], [[1, 0, 1]], [[1, 0, 1]], [1.0], [[0, 1, 0]], 1.0),
        np.array([[0.5, -0.5], [0.0, 0.0]]),
        why="Only the second entry is a token. Its state is 0.",
    ),
    Case(
        "Two completions that disagree",
        ([[0.0, 0.0]], [[0], [0]], [[0], [0]], [1.0, -1.0], [[1], [1]], 1.0),
        np.zeros((1, 2)),
        why="Both chose the same token, with advantages 1 and -1.",
    ),
    Holds(
        "Good tokens become more likely, bad tokens less likely",
        _follows_the_advantage,
        why="The sign of the advantage decides the direction.",
    ),
    Unchanged((np.zeros((1, 2)), np.array([[0]]), np.array([[0]]), np.array([1.0]), np.array([[1]]), 1.0)),
)
