"""Stable log-probabilities."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies.table import log_softmax

DOMAIN = Domain(
    {
        "logits": Real(
            "V|N V|B N V",
            (-1e4, 1e4),
            usual=((-3, 3), (-30, 30), (-900, 900), (-1e4, 1e4)),
            rows=(MIXED, LEVELS, NEAR_TIES, OFFSET_ROWS, ONE_FAR_OUT),
            meaning="z, one number per token of the vocabulary",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
)


def _reference(logits: Any) -> Any:
    return log_softmax(np.asarray(logits, dtype=float))


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
    background=(
        "A language model reads a text and gives one number to every token of its vocabulary: the logits. The"
        " larger a token's logit, the likelier that token comes next. The softmax turns the logits into the"
        " probabilities πₐ = exp(zₐ) / Σ_b exp(z_b), and these are the policy, which reinforcement learning trains."
        " Nearly every formula of this course needs their logarithms. On paper one could take the softmax first"
        " and its logarithm afterwards. In a computer exp(1000) is infinite and exp(-1000) is 0, so that way ends"
        " in NaN or in -inf, although the right answer is an ordinary number."
    ),
    task=(
        "Write `log_softmax(logits)`, the logarithm of the softmax along the last axis:\n\n"
        "    log πₐ = zₐ - log Σ_b exp(z_b)\n\n"
        "The last axis is the vocabulary. Whatever axes come before it, each row along the last one is a"
        " distribution of its own: its largest logit says nothing of the other rows, which may lie a thousand"
        " higher or lower. The logarithm is the natural one."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of the same shape, in nats; no number in it is positive.",
    constraints=(
        "Every result is finite, however far apart the logits are: nothing overflows, and a very unlikely token"
        " gets a large negative number, not -inf.\n"
        "A vocabulary of one token has the log-probability 0. No axis is empty."
    ),
    notes="TRL (`selective_log_softmax`) and verl (`logprobs_from_logits`) subtract the log of the sum in the same way.",
    kernel="grpo_ref.learning.policies.table.log_softmax",
    source="Goodfellow, Bengio and Courville, Deep Learning, sec. 4.1 (overflow and underflow).",
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
            why="Each of the two has probability 1/2, and log 1/2 = -0.693147.",
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
            why="exp(log 3) = 3 and exp(0) = 1: odds of 3 to 1, so log 3/4 and log 1/4. One row without other axes.",
            shown=True,
        ),
        Case(
            "Many unlikely tokens",
            (np.array([0.0] + [-25.0] * 199),),
            np.array([0.0] + [-25.0] * 199) - np.log1p(199 * np.exp(-25.0)),
            why="each of the unlikely tokens adds exp(-25) to the sum, however little that is",
        ),
        Holds("Adding a constant changes nothing", _shift, why="the softmax knows differences only"),
        Unchanged((np.array([[1.0, 2.0]]),)),
        FromDomain(),
        *found_cases(__file__),
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
