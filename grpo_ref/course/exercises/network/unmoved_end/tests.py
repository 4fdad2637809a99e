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
            "V D", (-4, 4), usual=((-1, 1), (-4, 4)), rows=ROWS, meaning="E, one row per token"
        ),
        "mix": Real(
            "D D", (-4, 4), usual=((-1, 1), (-4, 4)), rows=ROWS, meaning="W, weights between input and output"
        ),
        "texts": Whole((0, "V - 1"), axes="B T", meaning="B texts of T tokens"),
        "learning_rate": Scalar(1.0, (0.01, 4), usual=((0.1, 2),), at=(1,), meaning="step size"),
        "steps": Whole((1, 4), default=1, meaning="number of steps"),
    },
    sizes={"V": (2, 5), "D": (1, 4), "B": (1, 3), "T": (2, 5)},
    large={"V": 20, "D": 12, "B": 16, "T": 20},
)


def neighbors(texts):
    """Return each token that has a next one, and the next ones."""
    return texts[:, :-1].ravel(), texts[:, 1:].ravel()


def _added_up(rows, tokens, embedding):
    """Add the gradient of each row that was read (M, D) to the row of its token (V, D)."""
    return np.asarray(layers.swapped(layers.one_hot(tokens, len(embedding), embedding)) @ rows)


@dataclass(frozen=True)
class Imitation:
    """The training program, with exchangeable stages.

    Attributes:
      pairs: texts -> tokens that the network reads, tokens that it predicts.
      both: (gradient from the input, gradient from the output) -> gradient of the embedding.
      collect: (gradients of the rows that were read, their tokens, the embedding) -> gradient of the embedding
        from the input.
      derivative: tanh -> its derivative.
      through: mix -> matrix that multiplies the gradient on its way to the input embedding.
      direction: +1 descends, -1 ascends.
    """

    pairs: Callable[[Any], tuple[Any, Any]] = neighbors
    both: Callable[[Floats, Floats], Floats] = lambda at_input, at_output: at_input + at_output
    collect: Callable[[Floats, Any, Floats], Floats] = _added_up
    derivative: Callable[[Floats], Floats] = lambda hidden: 1.0 - hidden**2
    through: Callable[[Floats], Floats] = lambda mix: mix.T
    direction: float = 1.0

    def __call__(self, embedding, mix, texts, learning_rate=1.0, steps=1):
        """Return the embedding and the other weights after some steps."""
        pairs, rate = self.pairs(np.asarray(texts)), self.direction * learning_rate
        e, w = np.array(embedding, dtype=float), np.array(mix, dtype=float)
        for _ in range(steps):
            at_input, at_output, of_mix = self.gradients(e, e, e, w, pairs)
            e, w = e - rate * self.both(at_input, at_output), w - rate * of_mix
        return e, w

    def gradients(self, reading, writing, back, mix, pairs):
        """Return the gradients of the embedding from the input and from the output (V, D), and of `mix` (D, D).

        `reading`, `writing` and `back` are the embedding at the input, at the output and in the backward pass.
        Wrong answers pass different ones.
        """
        current, following = pairs
        rows = reading[current]
        hidden = np.tanh(layers.linear(rows, mix))
        upstream = _logits_gradient(layers.linear(hidden, writing.T), following)
        to_hidden, at_output = layers.linear_back(upstream, hidden, back.T)
        inner = to_hidden * self.derivative(hidden)
        return self.collect(inner @ self.through(mix), current, reading), at_output.T, rows.T @ inner


def _logits_gradient(logits, following):
    """Return the gradient of the cross-entropy with respect to M rows of logits (M, V)."""
    places, tokens = np.arange(len(following)).reshape(1, 1, -1), np.reshape(following, (1, 1, -1))
    shares = np.full(places.shape, -1.0 / len(following))
    return table.pull_back(shares, places, tokens, table.policy_of(logits).probs)


RIGHT = Imitation()


def loss(embedding, mix, texts):
    """Return the mean cross-entropy, in nats per token."""
    current, following = neighbors(np.asarray(texts))
    log_probs = table.log_softmax(np.tanh(embedding[current] @ mix) @ embedding.T)
    return -float(log_probs[np.arange(len(following)), following].mean())


E, W = np.array([[0.5, -0.3], [-1.0, 0.2], [0.4, 0.9]]), np.array([[0.7, -0.4], [0.1, 1.2]])

TEXTS = np.array([[0, 1, 0, 2], [1, 1, 0, 2]])

H = 1e-6


def _follows_the_gradient(f):
    after = f(E, W, TEXTS, 1.0, 1)
    for name, before, now in (("E", E, after[0]), ("W", W, after[1])):
        numerical = np.zeros(before.shape)
        for place in np.ndindex(before.shape):
            step = np.zeros(before.shape)
            step[place] = H
            losses = [
                loss(E + sign * step, W, TEXTS) if name == "E" else loss(E, W + sign * step, TEXTS)
                for sign in (1.0, -1.0)
            ]
            numerical[place] = (losses[0] - losses[1]) / (2.0 * H)
        if not np.allclose(before - np.asarray(now), numerical, atol=1e-8):
            return f"the first step of {name} differs from a central difference of the loss"
    return None


NAMES = ("clara", "elias", "jonas", "lukas", "paula", "sofia", "oskar", "felix")

LETTERS = "." + "".join(sorted(set("".join(NAMES))))

SPELLED = np.array([[LETTERS.index(sign) for sign in f"{name}."] for name in NAMES])


def start(seed):
    """Return E and W for the eight names."""
    generator = np.random.default_rng(seed)
    embedding = 0.5 * generator.normal(size=(len(LETTERS), 8))
    return embedding, generator.normal(size=(8, 8)) / np.sqrt(8.0)


def _learns_to_spell(f):
    embedding, mix = (np.asarray(each, dtype=float) for each in f(*start(0), SPELLED, 1.0, 50))
    reached = loss(embedding, mix, SPELLED)
    return (
        None
        if reached < 1.1
        else f"after 50 steps the loss should be below 1.1 nats, but it is {reached:.2f}"
    )


LOG3 = float(np.log(3.0))

A = LOG3 / 2.0

ONE: tuple[Any, ...] = ([[LOG3], [-LOG3]], [[0.5]])

reference = RIGHT
RTOL = 1e-8
CHECKS = (
    Case(
        "One number per token",
        (*ONE, [[0, 1]], 1.0, 1),
        (
            np.array([[7.0 / 16.0 * LOG3 - 0.375], [0.375 - LOG3]]),
            np.array([[0.5 - 9.0 / 8.0 * LOG3**2]]),
        ),
        why=(
            "h = 1/2, π is 3/4 and 1/4, and the gradient at the logits is (3/4, -3/4). From the output, the rows of E"
            " get 3/8 and -3/8. The gradient of E[0] W is 9/8 · log 3: times W = 1/2 it goes to E[0], times E[0] it goes"
            " to W."
        ),
        shown=True,
    ),
    Case(
        "Two numbers per token",
        ([[A, 0.0], [5.0 * A, 2.0]], [[1.0, 0.0], [3.0, -1.0]], [[0, 1]]),
        (
            np.array([[A - 0.125 + 0.75 * A, 2.25 * A - 0.5], [5.0 * A + 0.125, 2.0]]),
            np.array([[1.0 + 0.75 * A**2, A / 2.0], [3.0, -1.0]]),
        ),
        why=(
            "h = (1/2, 0), and the gradient of E[0] W is d = (-3a/4, -1/2). E[0] gets d Wᵀ = (-3a/4, -9a/4 + 1/2) from"
            " the input, and the first row of W gets a d."
        ),
        shown=True,
    ),
    Case(
        "A token that is read twice",
        (*ONE, [[0, 0, 1]], 1.0, 1),
        (
            np.array([[LOG3 - 0.125 - 3.0 / 16.0 * LOG3], [0.125 - LOG3]]),
            np.array([[0.5 - 0.375 * LOG3**2]]),
        ),
        why=(
            "The gradients at the logits are (-1/8, 1/8) and (3/8, -3/8). From the input, E[0] gets a sum of two"
            " gradients."
        ),
    ),
    Case(
        "Two equal texts and another one",
        (*ONE, [[0, 1], [0, 1], [1, 0]], 1.0, 1),
        (
            np.array([[LOG3 - 0.375 - 0.375 * LOG3], [0.375 - LOG3 + 3.0 / 16.0 * LOG3]]),
            np.array([[0.5 - 9.0 / 8.0 * LOG3**2]]),
        ),
        why="The pair 0, 1 counts twice. The pair 1, 0, its mirror image, counts once.",
    ),
    Holds("The step follows the gradient", _follows_the_gradient, why="Compared with central differences."),
    Holds("The network learns to spell", _learns_to_spell, why="50 steps on eight names."),
    Unchanged((E, W, TEXTS)),
)
