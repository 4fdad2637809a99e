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
from grpo_ref.learning.policies.table import policy_of

SPEAKER = replace(RIGHT, walk=countdown)


def _third_is_the_end(source, uniforms):
    """Begin some completions with two large numbers, which sample words, and a small one, which samples the
    end.
    """
    chosen = source.flags((*uniforms.shape[:-1], 1))
    position = np.arange(uniforms.shape[-1])
    forced = np.where(position < 2, 0.9 + 0.09 * uniforms, np.where(position == 2, 0.1 * uniforms, uniforms))
    return np.where(chosen, forced, uniforms)


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
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="length of a step"),
    },
    sizes={"U": (1, 4), "G": (1, 6), "T": (1, 6)},
    large={"U": 12, "G": 40, "T": 20},
)


def _two_words(tokens, mask):
    ended = (mask * (tokens == 0)).sum(-1) > 0
    return ((mask.sum(-1) == 3) & ended).astype(float)


def of(loop, reward=_two_words):
    def train(uniforms, vocabulary, learning_rate=8.0):
        numbers = np.asarray(uniforms, dtype=float)[:, None]
        start = np.zeros((numbers.shape[-1], vocabulary))
        return loop(start, lambda update, tokens, mask: reward(tokens, mask), numbers, learning_rate)

    return train


reference = of(SPEAKER)


def _learns(f):
    numbers = np.random.default_rng(0).random((200, 16, 5))
    probs = policy_of(np.asarray(f(numbers, 3), dtype=float)).probs
    chance = (1 - probs[0, 0]) * (1 - probs[1, 0]) * probs[2, 0]
    return (
        None
        if chance > 0.9
        else f"after 200 updates it should stop after two words with probability 0.9, it does with {chance:.2f}"
    )


def _silence(f):
    right, wrong = [0.9, 0.9, 0.1, 0.9, 0.9], [0.1, 0.9, 0.9, 0.1, 0.1]
    logits = np.asarray(f(np.array([[right, wrong]]), 2), dtype=float)
    kept = np.abs(logits[3:]).max() == 0.0
    return None if kept else "rows that are only reached after the end should stay as they were"


RTOL = 1e-8
CHECKS = (
    Case(
        "One update by hand",
        ([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
        np.array([[-0.5, 0.5], [-0.25, 0.25], [0.25, -0.25], [0.0, 0.0]]) / 4,
        why="Each token has probability 1/2. The completions are 1 1 0 and 0, so the rewards are 1 and 0,"
        " A = 1/2 and -1/2, and each of the four tokens has weight 1/4. The first position gets"
        " (1/2 · [-1/2, 1/2] - 1/2 · [1/2, -1/2]) / 4, the second 1/2 · [-1/2, 1/2] / 4, the third"
        " 1/2 · [1/2, -1/2] / 4. At the fourth both have ended.",
        shown=True,
    ),
    Case(
        "A number on the edge",
        ([[[0.75, 0.5, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
        np.array([[-0.5, 0.5], [-0.25, 0.25], [0.25, -0.25], [0.0, 0.0]]) / 4,
        why="token 0 has a cumulative probability of 1/2, which is not larger than 1/2: token 1 is drawn",
    ),
    Holds("Padding is not trained", _silence, why="both completions have ended by then"),
    Holds("It learns when to stop", _learns, why="200 updates of 16 completions"),
    Unchanged((np.full((2, 2, 4), 0.3), 2)),
)
