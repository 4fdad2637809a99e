"""The full stop never moves."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.domain.arguments import Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, ONE_FAR_OUT
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
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


def _pairs(texts: Any) -> tuple[Any, Any]:
    """Return each token and the one after it."""
    return texts[:, :-1].ravel(), texts[:, 1:].ravel()


def _each_visit(slope: Floats, seen: Any, like: Floats) -> Floats:
    """Add the slope of the rows that were read (M, D) to the rows of the table (V, D)."""
    return np.asarray(layers.swapped(layers.one_hot(seen, len(like), like)) @ slope)


def _last_visit(slope: Floats, seen: Any, like: Floats) -> Floats:
    """Add the slopes by index assignment, which counts only one of several visits of a row."""
    gradient = np.zeros_like(like)
    gradient[seen] += slope
    return gradient


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

    def __call__(
        self, embedding: Any, mix: Any, texts: Any, learning_rate: float = 1.0, steps: int = 1
    ) -> Any:
        """Return the embedding and the other weights after some steps."""
        tokens, rate = self.pairs(np.asarray(texts)), self.direction * learning_rate
        table_, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
        for _ in range(steps):
            reader, writer, others = self.slopes(table_, table_, table_, weights, tokens)
            table_, weights = table_ - rate * self.both(reader, writer), weights - rate * others
        return table_, weights

    def slopes(
        self, reads: Floats, writes: Floats, back: Floats, mix: Floats, tokens: tuple[Any, Any]
    ) -> tuple[Floats, Floats, Floats]:
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


def _of_logits(logits: Floats, said: Any) -> Floats:
    """Return the slope of the cross-entropy of M logits (M, V)."""
    places, tokens = np.arange(len(said)).reshape(1, 1, -1), np.reshape(said, (1, 1, -1))
    shares = np.full(places.shape, -1.0 / len(said))
    return table.pull_back(shares, places, tokens, table.policy_of(logits).probs)


RIGHT = Imitation()


def _untied(embedding: Any, mix: Any, texts: Any, learning_rate: float = 1.0, steps: int = 1) -> Any:
    """Train the output embedding as a separate copy, and return the input embedding."""
    reads, weights, tokens = np.array(embedding, float), np.array(mix, float), _pairs(np.asarray(texts))
    writes = reads.copy()
    for _ in range(steps):
        reader, writer, others = RIGHT.slopes(reads, writes, writes, weights, tokens)
        reads, writes = reads - learning_rate * reader, writes - learning_rate * writer
        weights = weights - learning_rate * others
    return reads, weights


def _one_after_the_other(
    embedding: Any, mix: Any, texts: Any, learning_rate: float = 1.0, steps: int = 1
) -> Any:
    """Take the step of the output embedding before the slope goes back through the embedding."""
    table_, weights, tokens = np.array(embedding, float), np.array(mix, float), _pairs(np.asarray(texts))
    for _ in range(steps):
        _, writer, _ = RIGHT.slopes(table_, table_, table_, weights, tokens)
        moved = table_ - learning_rate * writer
        reader, _, others = RIGHT.slopes(table_, table_, moved, weights, tokens)
        table_, weights = moved - learning_rate * reader, weights - learning_rate * others
    return table_, weights


def _loss(embedding: Any, mix: Any, texts: Any) -> float:
    """Return the mean cross-entropy."""
    seen, said = _pairs(np.asarray(texts))
    log_probs = table.log_softmax(np.tanh(embedding[seen] @ mix) @ embedding.T)
    return -float(log_probs[np.arange(len(said)), said].mean())


E, W = np.array([[0.5, -0.3], [-1.0, 0.2], [0.4, 0.9]]), np.array([[0.7, -0.4], [0.1, 1.2]])
TEXTS = np.array([[0, 1, 0, 2], [1, 1, 0, 2]])
H = 1e-6


def _goes_down_the_slope(f: Function) -> str | None:
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


def _learns(f: Function) -> str | None:
    generator = np.random.default_rng(0)
    embedding = 0.5 * generator.normal(size=(len(LETTERS), 8))
    after = f(embedding, generator.normal(size=(8, 8)) / np.sqrt(8.0), SPELLED, 1.0, 50)
    loss = _loss(np.asarray(after[0], dtype=float), np.asarray(after[1], dtype=float), SPELLED)
    return None if loss < 1.1 else f"after 50 steps the loss should be below 1.1 nats, it is {loss:.2f}"


LOG3 = float(np.log(3.0))
START: tuple[Any, ...] = ([[LOG3], [-LOG3]], [[0.5]])

PROBLEM = Problem(
    id="network/unmoved_end",
    title="The full stop never moves",
    function="train",
    reference=RIGHT,
    background=(
        "This is a patient, as in chapter 8: a program with one fault. It trains a small network to imitate texts."
        " The embedding, a table with a row of numbers for each token, is used in two places. It *reads*: the row of"
        " a token is what the network gets. And it *writes*: the logit of each possible next token is the product"
        " of the last layer with that token's row. Many language models tie reading and writing in this way, which"
        " saves a large table of weights.\n\n"
        "The owner trains it on eight names of five letters, each with a full stop at its end. The loss falls, from"
        " 2.92 nats a token to 1.56 after 50 steps. But a colleague reaches 0.93 with the same names and the same"
        " start (all are means of 16 runs). And the owner has seen something strange: the full stop, which stands"
        " only at the end, where nothing is read any more, still has exactly the row of numbers that it began with."
    ),
    task=(
        "Find the fault in `train(embedding, mix, texts, learning_rate=1.0, steps=1)` below and mend it: one line is"
        " wrong, the rest is right. The program shall do the following. With E the embedding and W the weights"
        " `mix`, the network says what follows a token s by\n\n"
        "    h = tanh(E[s] W),    z[v] = h · E[v],    π(v | s) = exp(z[v]) / Σ_u exp(z[u])\n\n"
        "The loss is the mean over all pairs of a token and the one right after it in the same text,\n\n"
        "    L = - 1/(N (T - 1)) Σ log π(next token | token)\n\n"
        "and each of the U `steps` goes downhill, with both slopes taken before anything is changed:\n\n"
        "    E -= learning_rate · ∂L/∂E,    W -= learning_rate · ∂L/∂W\n\n"
        "∂L/∂E is the whole derivative, with E in both of its places."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple of two arrays: E, (V, D), and W, (D, D), after the steps.",
    constraints=(
        "The first token of a text is only read, the last one is only written.\n"
        "One test takes more steps: after 50 on eight names of five letters, the loss must be below 1.1 nats."
    ),
    notes=(
        "Automatic differentiation adds up the slopes of all uses by itself, as long as both uses are the same"
        " tensor on the same machine. Where the first and the last layer lie on different machines, somebody has to"
        " add them; an issue of Megatron-LM (#844) reports a wrong sum of this kind."
    ),
    source="Press & Wolf 2017, Using the output embedding to improve language models (arXiv:1608.05859).",
    hints=(
        "Compare the first step with a central difference of the loss, for E and for W. Which rows of E are wrong?",
        "Whatever is used in two places gets the sum of what comes back from each. Where does the slope from writing go?",
        "embedding_slope += one_hot[seen].T @ (inner @ mix.T)",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(RIGHT),
        as_given(
            replace(RIGHT, both=lambda reader, writer: reader),
            "The embedding still learns as reader only: what comes back to it from the logits is overwritten.",
        ),
        Mutant(
            "as writer only",
            replace(RIGHT, both=lambda reader, writer: writer),
            "Now the embedding learns as writer only; what comes back to the rows that were read is lost.",
        ),
        Mutant(
            "mean of both",
            replace(RIGHT, both=lambda reader, writer: (reader + writer) / 2.0),
            "The slopes of the two uses add up; this is their mean.",
        ),
        Mutant(
            "difference of both",
            replace(RIGHT, both=lambda reader, writer: writer - reader),
            "The slopes of the two uses add up; one is subtracted here.",
        ),
        Mutant(
            "visits lost",
            replace(RIGHT, visits=_last_visit),
            "A token that is read several times gets the sum of all its visits. Where an index has an entry twice,"
            " `+=` keeps only the last; np.add.at adds them all.",
        ),
        Mutant(
            "untied",
            _untied,
            "The embedding that writes is a copy now, which learns by itself: the two uses are no longer one table.",
        ),
        Mutant(
            "one use after the other",
            _one_after_the_other,
            "The embedding is changed before the slope has gone back through it: take both slopes, then step.",
        ),
        Mutant(
            "bend left out",
            replace(RIGHT, bend=np.ones_like),
            "The derivative of tanh, 1 - h², was right; it is gone now.",
        ),
        Mutant(
            "past the other weights",
            replace(RIGHT, through=lambda mix: np.eye(len(mix))),
            "On its way to the row that was read, the slope passes W: inner @ mix.T.",
        ),
        Mutant(
            "weights not transposed",
            replace(RIGHT, through=lambda mix: mix),
            "The way back through a product with W is one with its transpose.",
        ),
        Mutant("uphill", replace(RIGHT, direction=-1.0), "The sign was right; it is turned over now."),
        Mutant(
            "not shifted",
            replace(RIGHT, pairs=lambda texts: (texts[:, :-1].ravel(), texts[:, :-1].ravel())),
            "What is to be said is the token after the one that is read.",
        ),
    ),
    others={"a list": lambda *inputs, **named: tuple(each.tolist() for each in RIGHT(*inputs, **named))},
    rtol=1e-8,
)
