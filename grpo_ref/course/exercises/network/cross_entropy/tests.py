"""The tests of `network/cross_entropy`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    NEAR_TIES,
    OFFSET_ROWS,
    Case,
    Domain,
    Holds,
    Mask,
    Real,
    Rule,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies import table

DOMAIN = Domain(
    {
        "logits": Real(
            "B T V",
            (-1000.0, 1000.0),
            usual=((-3.0, 3.0), (-30.0, 30.0), (-1000.0, 1000.0)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS),
            meaning="z, one row of V numbers per position",
        ),
        "tokens": Whole((0, "V - 1"), axes="B T", meaning="the token at each position"),
        "mask": Mask("B T", meaning="m, 1 on tokens to learn, else 0"),
    },
    sizes={"B": (1, 4), "T": (1, 4), "V": (1, 5)},
    large={"B": 20, "T": 30, "V": 60},
    rules=(
        Rule("At least one entry of `mask` is 1.", lambda values: bool(np.any(values["mask"]))),
        Rule("The loss is 0 or at least 1e-6.", lambda values: not 0.0 < reference(**values)[0] < 1e-6),
    ),
)


def reference(logits, tokens, mask):
    logits, mask = np.asarray(logits, float), np.asarray(mask, float)
    policy = table.policy_of(logits.reshape(-1, logits.shape[-1]))
    states, chosen = np.arange(mask.size).reshape(1, *mask.shape), np.asarray(tokens)[None]
    weights = mask[None] / mask.sum()
    slope = table.pull_back(-weights, states, chosen, policy.probs)
    return -float((weights * table.gather(policy.log_probs, states, chosen)).sum()), slope.reshape(
        logits.shape
    )


LOGITS = np.array([[[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]], [[-0.7, 0.2, 0.1], [2.0, 2.0, -1.0]]])

TOKENS, MASK = np.array([[2, 0], [1, 1]]), np.array([[1, 1], [1, 0]])

H = 1e-6


def _is_the_derivative(f):
    slope, numerical = np.asarray(f(LOGITS, TOKENS, MASK)[1]), np.zeros(LOGITS.shape)
    for place in np.ndindex(LOGITS.shape):
        step = np.zeros(LOGITS.shape)
        step[place] = H
        losses = [reference(LOGITS + sign * step, TOKENS, MASK)[0] for sign in (1.0, -1.0)]
        numerical[place] = (losses[0] - losses[1]) / (2.0 * H)
    same = np.allclose(slope, numerical, atol=1e-8)
    return None if same else "the gradient differs from a central difference of the loss"


def _masked_positions_do_not_matter(f):
    logits, tokens = LOGITS.copy(), TOKENS.copy()
    logits[1, 1], tokens[1, 1] = [-9.0, 5.0, 700.0], 0
    (loss, slope), (other_loss, other_slope) = f(LOGITS, TOKENS, MASK), f(logits, tokens, MASK)
    if not np.allclose(np.asarray(slope)[1, 1], 0.0):
        return "a position where the mask is 0 has a gradient"
    same = np.allclose(loss, other_loss) and np.allclose(slope, other_slope)
    return None if same else "other logits where the mask is 0 changed the result"


LOG3 = np.log(3.0)

CHECKS = (
    Case(
        "A fair coin",
        ([[[0.0, 0.0]]], [[0]], [[1]]),
        (np.log(2.0), np.array([[[-0.5, 0.5]]])),
        why="π is 1/2 for both tokens, so the loss is log 2 and the gradient is 1/2 - 1 and 1/2.",
        shown=True,
    ),
    Case(
        "A long and a short example",
        (
            [[[LOG3, 0.0], [LOG3, 0.0], [LOG3, 0.0]], [[LOG3, 0.0], [5.0, -5.0], [0.0, 0.0]]],
            [[0, 0, 0], [1, 0, 1]],
            [[1, 1, 1], [1, 0, 0]],
        ),
        (
            np.log(4.0) - 0.75 * LOG3,
            np.array(
                [
                    [[-0.0625, 0.0625], [-0.0625, 0.0625], [-0.0625, 0.0625]],
                    [[0.1875, -0.1875], [0.0, 0.0], [0.0, 0.0]],
                ]
            ),
        ),
        why="Four tokens count the same: three with π = 3/4, one with π = 1/4.",
        shown=True,
    ),
    Case(
        "Large logits",
        ([[[1000.0, 0.0], [0.0, -1000.0]]], [[1, 0]], [[1, 1]]),
        (500.0, np.array([[[0.5, -0.5], [0.0, 0.0]]])),
        why="The log-probabilities are -1000 and 0.",
        shown=True,
    ),
    Case(
        "Two tokens and a prompt",
        ([[[5.0, -5.0], [0.0, 0.0]], [[LOG3, 0.0], [7.0, 7.0]]], [[1, 0], [1, 0]], [[0, 1], [1, 0]]),
        (np.log(8.0) / 2.0, np.array([[[0.0, 0.0], [-0.25, 0.25]], [[0.375, -0.375], [0.0, 0.0]]])),
        why=(
            "Two positions count, one of each example, with -log 1/2 and -log 1/4. Their gradients are half of"
            " (1/2 - 1, 1/2) and of (3/4, 1/4 - 1)."
        ),
    ),
    Holds("The gradient is the derivative", _is_the_derivative, why="Compared with central differences."),
    Holds(
        "Masked positions do not matter",
        _masked_positions_do_not_matter,
        why="Positions where the mask is 0 do not count.",
    ),
    Unchanged((LOGITS, TOKENS, MASK)),
)
