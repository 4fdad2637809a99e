"""Stable log-probabilities."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.learning.policies.table import log_softmax


def _reference(logits: Any) -> Any:
    return log_softmax(np.asarray(logits, dtype=float))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (rng.normal(size=(size, size + 1)) * 3,)


def _sums_to_one(f: Function) -> str | None:
    logits = np.array([[0.3, -1.0, 2.0], [5.0, 5.0, 5.0]])
    return None if np.allclose(np.exp(f(logits)).sum(-1), 1.0) else "exp of a row should sum to 1"


def _shift(f: Function) -> str | None:
    logits = np.array([[0.3, -1.0, 2.0]])
    return (
        None if np.allclose(f(logits), f(logits + 7.0)) else "adding 7 to every logit should change nothing"
    )


PROBLEM = Problem(
    id="probabilities/log_softmax",
    title="Log-probabilities that do not overflow",
    function="log_softmax",
    reference=_reference,
    background="A language model ends in logits, one number per token. Everything in GRPO is built on their log-softmax.",
    task=(
        "Write `log_softmax(logits)`, the logarithm of the softmax along the last axis:\n\n"
        "    log πₐ = zₐ - log Σ_b exp(z_b)"
    ),
    inputs="logits: any number of axes, the vocabulary last; finite, but possibly as large as 1e4.",
    output="An array of the same shape, in nats.",
    constraints="No overflow, and no -inf for a finite logit: subtract the largest logit of each row first.",
    source="any numerics text; TRL `selective_log_softmax` does the same.",
    hints=(
        "exp(1000) is infinite. Which number can you subtract from a row without changing its softmax?",
        "z - z.max(-1, keepdims=True) is at most 0; its exponentials are at most 1.",
        "shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))",
    ),
    checks=(
        Case(
            "Two equal logits",
            ([[0.0, 0.0]],),
            np.log([[0.5, 0.5]]),
            why="each has probability 1/2",
            shown=True,
        ),
        Holds("Probabilities sum to one", _sums_to_one, why="they are probabilities, row by row"),
        Case(
            "Logits of 1e4 do not overflow",
            (np.array([[1e4, 0.0], [0.0, -1e4]]),),
            np.array([[0.0, -1e4], [0.0, -1e4]]),
            why="exp(1e4) is infinite, its logarithm is not: the unlikely token has log-probability -1e4",
        ),
        Case(
            "One axis will do",
            (np.array([np.log(3.0), 0.0]),),
            np.log([0.75, 0.25]),
            why="odds of 3 to 1; the last axis is the vocabulary, however many there are",
        ),
        Holds("Adding a constant changes nothing", _shift, why="the softmax knows differences only"),
        Unchanged((np.array([[1.0, 2.0]]),)),
        Drawn("Random logits agree", _draw, why="rows of any length"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "no maximum subtracted",
            lambda z: z - np.log(np.exp(z).sum(-1, keepdims=True)),
            "Large logits overflow.",
        ),
        Mutant(
            "log of softmax",
            lambda z: np.log(np.exp(_reference(z))),
            "This takes the log of a probability that has already become 0.",
        ),
        Mutant(
            "maximum not put back",
            lambda z: _reference(z) + np.max(z, -1, keepdims=True),
            "The maximum is subtracted inside the sum only; subtract it from the logits as well.",
        ),
        Mutant(
            "softmax",
            lambda z: np.exp(_reference(z)),
            "These are probabilities; their logarithm is asked for.",
        ),
        Mutant(
            "over the first axis",
            lambda z: _reference(np.asarray(z, dtype=float).T).T,
            "The vocabulary is the last axis.",
        ),
        Mutant(
            "over everything",
            lambda z: _reference(np.ravel(z)).reshape(np.shape(z)),
            "Each row is a distribution of its own.",
        ),
        Mutant(
            "one maximum for all rows",
            lambda z: (
                np.asarray(z) - np.max(z) - np.log(np.exp(np.asarray(z) - np.max(z)).sum(-1, keepdims=True))
            ),
            "The maximum is taken over the whole array; a row far below it underflows.",
        ),
        Mutant(
            "base 2",
            lambda z: _reference(z) / np.log(2.0),
            "The logarithm is the natural one: nats, not bits.",
        ),
        Mutant(
            "a small number inside",
            lambda z: np.log(np.exp(_reference(z)) + 1e-10),
            "A small number inside the logarithm floors every log-probability at -23.",
        ),
    ),
    others={
        "logaddexp": lambda z: (
            np.asarray(z) - np.logaddexp.reduce(np.asarray(z, dtype=float), axis=-1)[..., None]
        ),
        "a list": lambda z: _reference(z).tolist(),
    },
)
