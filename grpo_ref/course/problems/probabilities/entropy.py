"""How undecided is the policy?"""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Mutant, Problem, Unchanged, changing_inputs


def _reference(probs: Any) -> Any:
    p = np.asarray(probs, dtype=float)
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (rng.dirichlet(np.ones(size + 1), size=size),)


PROBLEM = Problem(
    id="probabilities/entropy",
    title="How undecided is the policy?",
    function="entropy",
    reference=_reference,
    background="Entropy is the first curve to look at: when it collapses, the policy has stopped exploring.",
    task="Write `entropy(probs)`, the entropy along the last axis:\n\n    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0",
    inputs="probs: probabilities, the vocabulary last; each row sums to 1 and may contain zeros.",
    output="One number per row, in nats.",
    source="Shannon 1948; TRL and verl log it as `entropy`.",
    hints=(
        "What should a token contribute that can never come?",
        "np.log(0) is -inf and 0 * -inf is NaN: replace the zeros before the logarithm.",
        "-(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)",
    ),
    checks=(
        Case("A fair coin", ([[0.5, 0.5]],), np.log([2.0]), why="-2 · 1/2 log 1/2 = log 2", shown=True),
        Case("Certainty", (np.array([[1.0, 0.0], [0.0, 1.0]]),), np.zeros(2), why="0 log 0 is 0, not NaN"),
        Case(
            "A half and two quarters",
            (np.array([[0.5, 0.25, 0.25]]),),
            1.5 * np.log([2.0]),
            why="1/2 log 2 + 2 · 1/4 log 4 = 3/2 log 2",
        ),
        Case(
            "A single distribution", (np.array([0.25] * 4),), np.log(4.0), why="log 4: one number for one row"
        ),
        Unchanged((np.array([[0.5, 0.5, 0.0]]),)),
        Drawn("Random distributions agree", _draw, why="rows of any length"),
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
