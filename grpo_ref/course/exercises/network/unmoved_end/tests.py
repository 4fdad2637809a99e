"""The tests of `network/unmoved_end`: the inputs that its statement allows, the right answer, the checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    Case,
    Domain,
    Holds,
    Real,
    Scalar,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies import layers, table

ROWS = (MIXED, LEVELS, ONE_FAR_OUT)

DOMAIN = Domain(
    {
        "embedding": Real(
            "V D", (-4, 4), usual=((-1, 1), (-4, 4)), rows=ROWS, meaning="E, a row for each token"
        ),
        "mix": Real("D D", (-4, 4), usual=((-1, 1), (-4, 4)), rows=ROWS, meaning="W, the other weights"),
        "texts": Whole((0, "V - 1"), axes="N T", meaning="N texts of T tokens each"),
        "learning_rate": Scalar(1.0, (0.01, 4), usual=((0.1, 2),), at=(1,), meaning="length of a step"),
        "steps": Whole((1, 4), default=1, meaning="U, how many steps are taken"),
    },
    sizes={"V": (2, 5), "D": (1, 4), "N": (1, 3), "T": (2, 5)},
    large={"V": 20, "D": 12, "N": 16, "T": 20},
)


def _pairs(texts):
    """Return each token and the one after it."""
    return texts[:, :-1].ravel(), texts[:, 1:].ravel()


def _each_visit(slope, seen, like):
    """Add the slope of the rows that were read (M, D) to the rows of the table (V, D)."""
    return np.asarray(layers.swapped(layers.one_hot(seen, len(like), like)) @ slope)


@dataclass(frozen=True)
class Imitation:
    """The training program, with exchangeable stages.

    Attributes:
      pairs: texts -> tokens that are read, tokens that are predicted.
      both: (slope as input, slope as output) -> slope of the embedding.
      visits: (slope of the rows that were read, their tokens, the embedding) -> slope of the embedding as
        input.
      bend: tanh -> its derivative.
      through: mix -> matrix that multiplies the slope on its way to the input embedding.
      direction: +1 descends, -1 ascends.
    """

    pairs: Callable[[Any], tuple[Any, Any]] = _pairs
    both: Callable[[Floats, Floats], Floats] = lambda reader, writer: reader + writer
    visits: Callable[[Floats, Any, Floats], Floats] = _each_visit
    bend: Callable[[Floats], Floats] = lambda hidden: 1.0 - hidden**2
    through: Callable[[Floats], Floats] = lambda mix: mix.T
    direction: float = 1.0

    def __call__(self, embedding, mix, texts, learning_rate=1.0, steps=1):
        """Return the embedding and the other weights after some steps."""
        tokens, rate = self.pairs(np.asarray(texts)), self.direction * learning_rate
        table_, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
        for _ in range(steps):
            reader, writer, others = self.slopes(table_, table_, table_, weights, tokens)
            table_, weights = table_ - rate * self.both(reader, writer), weights - rate * others
        return table_, weights

    def slopes(self, reads, writes, back, mix, tokens):
        """Return the slopes of the embedding as input and as output (V, D), and of the other weights (D, D).

        All three tables are the embedding; `back` is used in the backward pass. Wrong answers pass different
        tables.
        """
        seen, said = tokens
        rows = reads[seen]
        hidden = np.tanh(layers.linear(rows, mix))
        slope = _of_logits(layers.linear(hidden, writes.T), said)
        to_hidden, writer = layers.linear_back(slope, hidden, back.T)
        inner = to_hidden * self.bend(hidden)
        return self.visits(inner @ self.through(mix), seen, reads), writer.T, rows.T @ inner


def _of_logits(logits, said):
    """Return the slope of the cross-entropy of M logits (M, V)."""
    places, tokens = np.arange(len(said)).reshape(1, 1, -1), np.reshape(said, (1, 1, -1))
    shares = np.full(places.shape, -1.0 / len(said))
    return table.pull_back(shares, places, tokens, table.policy_of(logits).probs)


RIGHT = Imitation()


def _loss(embedding, mix, texts):
    """Return the mean cross-entropy."""
    seen, said = _pairs(np.asarray(texts))
    log_probs = table.log_softmax(np.tanh(embedding[seen] @ mix) @ embedding.T)
    return -float(log_probs[np.arange(len(said)), said].mean())


E, W = np.array([[0.5, -0.3], [-1.0, 0.2], [0.4, 0.9]]), np.array([[0.7, -0.4], [0.1, 1.2]])

TEXTS = np.array([[0, 1, 0, 2], [1, 1, 0, 2]])

H = 1e-6


def _goes_down_the_slope(f):
    after = f(E, W, TEXTS, 1.0, 1)
    for name, before, now in (("E", E, after[0]), ("W", W, after[1])):
        numerical = np.zeros(before.shape)
        for place in np.ndindex(before.shape):
            step = np.zeros(before.shape)
            step[place] = H
            ends = [
                _loss(E + sign * step, W, TEXTS) if name == "E" else _loss(E, W + sign * step, TEXTS)
                for sign in (1.0, -1.0)
            ]
            numerical[place] = (ends[0] - ends[1]) / (2.0 * H)
        if not np.allclose(before - np.asarray(now), numerical, atol=1e-8):
            return f"the first step of {name} differs from a central difference of the loss"
    return None


NAMES = ("clara", "elias", "jonas", "lukas", "paula", "sofia", "oskar", "felix")

LETTERS = "." + "".join(sorted(set("".join(NAMES))))

SPELLED = np.array([[LETTERS.index(sign) for sign in f"{name}."] for name in NAMES])


def _learns(f):
    generator = np.random.default_rng(0)
    embedding = 0.5 * generator.normal(size=(len(LETTERS), 8))
    after = f(embedding, generator.normal(size=(8, 8)) / np.sqrt(8.0), SPELLED, 1.0, 50)
    loss = _loss(np.asarray(after[0], dtype=float), np.asarray(after[1], dtype=float), SPELLED)
    return None if loss < 1.1 else f"after 50 steps the loss should be below 1.1 nats, it is {loss:.2f}"


LOG3 = float(np.log(3.0))

START: tuple[Any, ...] = ([[LOG3], [-LOG3]], [[0.5]])

reference = RIGHT
RTOL = 1e-8
CHECKS = (
    Case(
        "One pair by hand",
        (*START, [[0, 1]], 1.0, 1),
        (
            np.array([[7.0 / 16.0 * LOG3 - 0.375], [0.375 - LOG3]]),
            np.array([[0.5 - 9.0 / 8.0 * LOG3**2]]),
        ),
        why="Token 0 is read and token 1 should follow. h = tanh(1/2 · log 3) = 1/2, so the logits are"
        " 1/2 · log 3 and -1/2 · log 3, and π is 3/4 and 1/4. The slope of the loss with respect to the logits"
        " is π minus one-hot, [3/4, -3/4]. As writers, both rows of E get h times this: 3/8 and -3/8. On the way"
        " back, h gets 3/4 · log 3 + 3/4 · log 3, and tanh leaves 1 - h² = 3/4 of it: 9/8 · log 3. Times the row"
        " that was read, log 3, that is the slope of W; times W = 1/2 it is the slope of E[0] as reader,"
        " 9/16 · log 3, which is added to 3/8.",
        shown=True,
    ),
    Case(
        "A token that is read twice",
        (*START, [[0, 0, 1]], 1.0, 1),
        (
            np.array([[LOG3 - 0.125 - 3.0 / 16.0 * LOG3], [0.125 - LOG3]]),
            np.array([[0.5 - 0.375 * LOG3**2]]),
        ),
        why="the slopes at the logits are [-1/8, 1/8] and [3/8, -3/8]; as reader, E[0] gets the sum of both visits",
    ),
    Case(
        "A text that comes twice",
        (*START, [[0, 1], [0, 1], [1, 0]], 1.0, 1),
        (
            np.array([[LOG3 - 0.375 - 0.375 * LOG3], [0.375 - LOG3 + 3.0 / 16.0 * LOG3]]),
            np.array([[0.5 - 9.0 / 8.0 * LOG3**2]]),
        ),
        why="the pair of the first text counts twice, the one of the last text, its mirror image, once",
    ),
    Holds("It goes down the slope", _goes_down_the_slope, why="checked by central differences"),
    Holds("It learns to spell", _learns, why="50 steps on eight names"),
    Unchanged((E, W, TEXTS)),
)
