"""The tests of `clinic/talking_on`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT, countdown
from grpo_ref.course.author import (
    MIXED,
    Case,
    Domain,
    Holds,
    Pattern,
    Real,
    Scalar,
    Unchanged,
    Whole,
)
from grpo_ref.course.exercises.bandits import without_ties
from grpo_ref.learning.policies.table import policy_of

LANGUAGE = replace(RIGHT, walk=countdown)


def _third_is_the_end(source, uniforms):
    """Begin some completions with two large numbers, which sample other tokens, and a small one, which samples
    the end.
    """
    chosen = source.flags((*uniforms.shape[:-1], 1))
    position = np.arange(uniforms.shape[-1])
    forced = np.where(position < 2, 0.9 + 0.09 * uniforms, np.where(position == 2, 0.1 * uniforms, uniforms))
    return np.where(chosen, forced, uniforms)


def ends_third(tokens, mask):
    """Return reward 1 for a completion whose third token is its first token 0."""
    ended = (mask * (tokens == 0)).sum(-1) > 0
    return ((mask.sum(-1) == 3) & ended).astype(float)


def of(loop, reward=ends_third):
    """Return the exercise's function, made of this loop and this reward."""

    def train(uniforms, vocabulary, learning_rate=8.0):
        numbers = np.asarray(uniforms, dtype=float)[:, None]
        start = np.zeros((numbers.shape[-1], vocabulary))
        return loop(start, lambda update, tokens, mask: reward(tokens, mask), numbers, learning_rate)

    return train


reference = of(LANGUAGE)

DOMAIN = Domain(
    {
        "uniforms": Real(
            "U G T",
            (0, 0.999),
            at=(0, 0.25, 0.5, 0.75),
            rows=(MIXED, Pattern("some end as the third token", _third_is_the_end)),
            whole=False,
            meaning="random numbers, one for each token",
        ),
        "vocabulary": Whole((2, 4), meaning="V, the number of tokens"),
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="step size"),
    },
    sizes={"U": (1, 4), "G": (1, 6), "T": (1, 6)},
    large={"U": 12, "G": 40, "T": 20},
    rules=(without_ties("Rounding never decides which token is sampled.", of, LANGUAGE),),
)


def _learns(function):
    numbers = np.random.default_rng(0).random((200, 16, 5))
    probs = policy_of(np.asarray(function(numbers, 3), dtype=float)).probs
    chance = (1 - probs[0, 0]) * (1 - probs[1, 0]) * probs[2, 0]
    if chance > 0.9:
        return None
    return f"after 200 updates the third token should end a completion with probability 0.9, not {chance:.2f}"


def _leaves_padding_alone(function):
    right, wrong = [0.9, 0.9, 0.1, 0.9, 0.9], [0.1, 0.9, 0.9, 0.1, 0.1]
    logits = np.asarray(function(np.array([[right, wrong]]), 2), dtype=float)
    return None if np.abs(logits[3:]).max() == 0.0 else "rows of positions after the end should stay at 0"


RTOL = 1e-8
CHECKS = (
    Case(
        "Two lengths",
        ([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
        np.array([[-1 / 8, 1 / 8], [-1 / 16, 1 / 16], [1 / 16, -1 / 16], [0.0, 0.0]]),
        why="A is 1/2 for the completion 1 1 0 and -1/2 for the completion 0. Each of the four tokens has weight"
        " 1/4.",
        shown=True,
    ),
    Case(
        "A completion without an end",
        ([[[0.75, 0.75, 0.25, 0.75], [0.75, 0.75, 0.75, 0.75]]], 2),
        np.array([[0.0, 0.0], [0.0, 0.0], [4 / 7, -4 / 7], [2 / 7, -2 / 7]]),
        why="A is 1/2 for the completion 1 1 0 and -1/2 for the completion 1 1 1 1. Each of the seven tokens has"
        " weight 1/7.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[0.75, 0.5, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
        np.array([[-1 / 8, 1 / 8], [-1 / 16, 1 / 16], [1 / 16, -1 / 16], [0.0, 0.0]]),
        why="Token 0 has the cumulative probability 0.5, which is not larger than 0.5, so token 1 is sampled.",
    ),
    Holds("Padding is not trained", _leaves_padding_alone, why="Both completions end by the third position."),
    Holds("A long run learns when to end", _learns, why="200 updates of 16 completions"),
    Unchanged((np.full((2, 2, 4), 0.3), 2)),
)
