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
            meaning="z, what the network says of each place, one row of V numbers",
        ),
        "tokens": Whole(
            (0, "V - 1"), axes="B T", meaning="the token that stands in each place of the example"
        ),
        "mask": Mask("B T", meaning="m, 1 where a token is to be learned, 0 on prompt and padding"),
    },
    sizes={"B": (1, 4), "T": (1, 4), "V": (1, 5)},
    large={"B": 20, "T": 30, "V": 60},
    rules=(Rule("At least one entry of the mask is 1.", lambda values: bool(np.any(values["mask"]))),),
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
        ends = [reference(LOGITS + sign * step, TOKENS, MASK)[0] for sign in (1.0, -1.0)]
        numerical[place] = (ends[0] - ends[1]) / (2.0 * H)
    return None if np.allclose(slope, numerical, atol=1e-8) else "the slope differs from a central difference"


def _elsewhere_does_not_matter(f):
    logits, tokens = LOGITS.copy(), TOKENS.copy()
    logits[1, 1], tokens[1, 1] = [-9.0, 5.0, 700.0], 0
    (loss, slope), (other, others) = f(LOGITS, TOKENS, MASK), f(logits, tokens, MASK)
    same = (
        np.allclose(loss, other) and np.allclose(slope, others) and np.allclose(np.asarray(slope)[1, 1], 0.0)
    )
    return None if same else "a place where the mask is 0 has reached the loss or has a slope"


CHECKS = (
    Case(
        "A fair coin",
        ([[[0.0, 0.0]]], [[0]], [[1]]),
        (np.log(2.0), np.array([[[-0.5, 0.5]]])),
        why="π = 1/2, 1/2, so the loss is log 2 = 0.693147, and the slope 1/2 - 1 and 1/2.",
        shown=True,
    ),
    Case(
        "Two tokens and a prompt",
        (
            [[[5.0, -5.0], [0.0, 0.0]], [[np.log(3.0), 0.0], [7.0, 7.0]]],
            [[1, 0], [1, 0]],
            [[0, 1], [1, 0]],
        ),
        (
            np.log(8.0) / 2.0,
            np.array([[[0.0, 0.0], [-0.25, 0.25]], [[0.375, -0.375], [0.0, 0.0]]]),
        ),
        why=(
            "Two places count, one of each example, with -log 1/2 and -log 1/4: the mean is log 8 / 2 = 1.03972."
            " Their slopes are half of (1/2 - 1, 1/2) and of (3/4, 1/4 - 1); the others are 0."
        ),
        shown=True,
    ),
    Case(
        "A long and a short example",
        (np.tile([np.log(3.0), 0.0], (2, 3, 1)), [[0, 0, 0], [1, 0, 0]], [[1, 1, 1], [1, 0, 0]]),
        (
            np.log(4.0) - 0.75 * np.log(3.0),
            np.array(
                [
                    [[-0.0625, 0.0625], [-0.0625, 0.0625], [-0.0625, 0.0625]],
                    [[0.1875, -0.1875], [0.0, 0.0], [0.0, 0.0]],
                ]
            ),
        ),
        why="four tokens count alike: three with π = 3/4, one with π = 1/4",
    ),
    Case(
        "Logits of 1000",
        ([[[1000.0, 0.0], [0.0, -1000.0]]], [[1, 0]], [[1, 1]]),
        (500.0, np.array([[[0.5, -0.5], [0.0, 0.0]]])),
        why="the first token has the log-probability -1000, the second one 0",
    ),
    Holds("It is the derivative", _is_the_derivative, why="checked by central differences"),
    Holds(
        "Where the mask is 0 nothing matters",
        _elsewhere_does_not_matter,
        why="that is what a mask is for",
    ),
    Unchanged((LOGITS, TOKENS, MASK)),
)
