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
        "logits": Real(
            "S V", (-1000, 1000), rows=(MIXED, LEVELS, OFFSET_ROWS), meaning="one row for each state"
        ),
        "states": Whole((0, "S - 1"), axes="N T", meaning="in which state each token was chosen"),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the tokens"),
        "advantages": Real("N", (-100, 100), at=(0,), meaning="A, one for each completion"),
        "mask": Mask("N T", meaning="m, 1 on tokens, 0 on padding"),
        "learning_rate": Scalar(REQUIRED, (0.001, 100), at=(1, 100), meaning="length of the step"),
    },
    sizes={"S": (1, 4), "V": (1, 4), "N": (1, 4), "T": (1, 4)},
    large={"S": 12, "N": 20, "T": 40},
    rules=(Rule("At least one entry of mask is 1.", lambda values: bool(np.any(values["mask"]))),),
)


def of(back=pull_back, scale=None, direction=-1.0, recipe=DAPO):
    def answer(logits, states, tokens, advantages, mask, learning_rate):
        logits = np.asarray(logits, dtype=float)
        states, tokens, mask = (np.asarray(x)[None] for x in (states, tokens, mask))
        policy = policy_of(logits)
        log_probs = gather(policy.log_probs, states, tokens)
        result = policy_loss(log_probs, np.asarray(advantages, dtype=float)[None], mask, recipe=recipe)
        gradient = result.gradient * (1.0 if scale is None else scale(mask))
        return logits + direction * learning_rate * back(gradient, states, tokens, policy.probs)

    return answer


reference = of()


def _likelier(f):
    logits = np.array([[0.1, -0.2, 0.3]])
    for advantage in (1.0, -1.0):
        new = np.asarray(f(logits, [[0, 0]], [[1, 1]], [advantage], [[1, 1]], 0.1))
        gained = policy_of(new).probs[0, 1] - policy_of(logits).probs[0, 1]
        if not gained * advantage > 0.0:
            return "a good token should become likelier, a bad one less likely"
    return None


CHECKS = (
    Case(
        "One good token",
        ([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0),
        np.array([[0.5, -0.5]]),
        why="Both tokens have probability 1/2, token 0 was chosen and was good: [1, 0] - [1/2, 1/2].",
        shown=True,
    ),
    Case(
        "A state visited twice, and padding",
        ([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0),
        np.array([[1.0, -1.0], [0.0, 0.0]]),
        why="Two tokens count, each with weight 1/2. Both chose token 0 in state 0 and add 1/2 · [1/2, -1/2]; the"
        " sum [1/2, -1/2] times 2 is the step. The third token is padding: state 1 stays at 0.",
        shown=True,
    ),
    Case(
        "Two completions that disagree",
        ([[0.0, 0.0]], [[0], [0]], [[0], [0]], [1.0, -1.0], [[1], [1]], 1.0),
        np.zeros((1, 2)),
        why="the same token once good and once bad",
    ),
    Holds("Good tokens become likelier, bad ones rarer", _likelier, why="that is what learning is"),
    Unchanged((np.zeros((1, 2)), np.array([[0]]), np.array([[0]]), np.array([1.0]), np.array([[1]]), 1.0)),
)
