"""Exercise: the entropy of a policy."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, probabilities; each row along the last axis, the vocabulary, sums to 1 up to rounding",
        ),
    },
    sizes={"B": (1, 3), "N": (1, 3), "V": (1, 5)},
    large={"V": 200, "N": 40},
)


def _reference(probs: Any) -> Any:
    p = np.asarray(probs, dtype=float)
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)


PROBLEM = Problem(
    id="probabilities/entropy",
    title="How undecided is the policy?",
    function="entropy",
    reference=_reference,
    background=(
        "The policy, that is the language model in training, gives every token of its vocabulary a probability of"
        " coming next. The entropy says in one number how undecided it is: 0 if one token is certain, log V if all V"
        " tokens are equally likely. It is the first curve to look at during training. A policy learns from the"
        " differences among its own answers; when its entropy falls to 0 it always gives the same answer, and there"
        " is nothing left to learn from."
    ),
    task=(
        "Write `entropy(probs)`, the entropy along the last axis:\n\n"
        "    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0\n\n"
        "pₐ is the probability of token a, and the logarithm is the natural one. A token of probability 0 adds"
        " nothing; np.log(0) is -inf, and 0 times -inf is NaN, so it needs care. Whatever axes come before the last"
        " one, each row has an entropy of its own."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="One number per row, in nats: the shape of probs without its last axis, for a single row a number.",
    constraints=(
        "A probability may be 0 or 1, and a tiny one counts with its own logarithm.\n"
        "A certain token gives 0. No axis is empty."
    ),
    notes=(
        "TRL and verl compute it from the logits z, verl as log Σ exp(z) - Σ p z; there the zeros need no care, because"
        " no logit is -inf."
    ),
    source="Shannon 1948, A Mathematical Theory of Communication, sec. 6.",
    hints=(
        "What should a token contribute that can never come?",
        "np.log(0) is -inf and 0 * -inf is NaN: replace the zeros before the logarithm.",
        "-(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)",
    ),
    checks=(
        Case(
            "A fair coin",
            ([[0.5, 0.5]],),
            np.log([2.0]),
            why="Two terms of -1/2 log 1/2 each, together log 2 = 0.693147.",
            shown=True,
        ),
        Case("Certainty", (np.array([[1.0, 0.0], [0.0, 1.0]]),), np.zeros(2), why="0 log 0 is 0, not NaN"),
        Case(
            "A half and two quarters",
            (np.array([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0]]),),
            np.array([1.5 * np.log(2.0), 0.0]),
            why="1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972; and a certain token leaves no doubt.",
            shown=True,
        ),
        Case(
            "A single distribution", (np.array([0.25] * 4),), np.log(4.0), why="log 4: one number for one row"
        ),
        Unchanged((np.array([[0.5, 0.5, 0.0]]),)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("NaN for zeros", lambda p: -(np.asarray(p) * np.log(p)).sum(-1), "0 log 0 has become NaN."),
        Mutant("bits", lambda p: _reference(p) / np.log(2.0), "This is in bits; nats are asked for."),
        Mutant(
            "mean for sum",
            lambda p: _reference(p) / np.shape(p)[-1],
            "Entropy is a sum over tokens, not a mean.",
        ),
        Mutant("negative", lambda p: -_reference(p), "The minus sign is missing: entropy is never negative."),
        Mutant("over all rows", lambda p: np.sum(_reference(p)), "Each row has an entropy of its own."),
        Mutant(
            "mean of -log p",
            lambda p: -np.log(np.maximum(p, 1e-12)).mean(-1),
            "The logarithms are weighted by the probabilities, not equally.",
        ),
        Mutant(
            "a small number inside",
            lambda p: -(np.asarray(p) * np.log(np.asarray(p) + 1e-6)).sum(-1),
            "A small number inside the logarithm shifts every value; leave out the zeros instead.",
        ),
    ),
    others={
        "Einstein sum": lambda p: -np.einsum("...v,...v->...", p, np.log(np.maximum(p, 1e-300))),
    },
)
