"""The divergence itself."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels import penalties


def _reference(probs: Any, ref_probs: Any) -> Any:
    with np.errstate(divide="ignore"):
        return penalties.exact_kl(
            np.log(np.asarray(probs, float)), np.log(np.asarray(ref_probs, float))
        ).value


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return tuple(rng.dirichlet(np.ones(size + 1), size=(2, size)))


P, Q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.75, 0.25, 0.0]])
HALVES = np.log(2.0) - np.log(3.0) / 2

PROBLEM = Problem(
    id="kl/exact_kl",
    title="How far from the reference?",
    function="exact_kl",
    reference=_reference,
    background="The KL penalty keeps the policy near the reference. With the whole vocabulary at hand it can be written out.",
    task="Write `exact_kl(probs, ref_probs)` along the last axis:\n\n    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ),    with 0 log 0 = 0",
    inputs="probs, ref_probs: probabilities of the same shape, the vocabulary last. Where πref is 0, π is 0 too.",
    output="One number per row, in nats.",
    source="Kullback & Leibler 1951.",
    hints=(
        "Which tokens contribute nothing, whatever the reference says?",
        "Replace the probabilities of impossible tokens by 1 inside the logarithms.",
        "possible = p > 0; (p * (np.log(np.where(possible, p, 1)) - np.log(np.where(possible, q, 1)))).sum(-1)",
    ),
    checks=(
        Case(
            "A fair coin against 3:1",
            ([[0.5, 0.5]], [[0.75, 0.25]]),
            np.array([HALVES]),
            why="1/2 log(2/3) + 1/2 log 2",
            shown=True,
        ),
        Case("Equal policies", (np.full((2, 4), 0.25), np.full((2, 4), 0.25)), np.zeros(2), why="log 1 = 0"),
        Case("A banned token", (P, Q), np.array([HALVES]), why="0 log(0/0) counts nothing"),
        Case(
            "A token given up",
            ([[1.0, 0.0]], [[0.5, 0.5]]),
            np.log([2.0]),
            why="0 log 0 counts nothing; log 2 is left",
        ),
        Case("A single row", ([0.5, 0.5], [0.75, 0.25]), HALVES, why="one number for one row"),
        Unchanged((P, Q)),
        Drawn("Random policies agree", _draw, why="rows of any length"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("reversed", lambda p, q: _reference(q, p), "This is KL(πref ‖ π), the other way round."),
        Mutant(
            "NaN for zeros",
            lambda p, q: (np.asarray(p) * np.log(np.divide(p, q))).sum(-1),
            "0 log 0 has become NaN.",
        ),
        Mutant("bits", lambda p, q: _reference(p, q) / np.log(2.0), "This is in bits; nats are asked for."),
        Mutant(
            "mean for sum",
            lambda p, q: _reference(p, q) / np.shape(p)[-1],
            "It is a sum over the vocabulary.",
        ),
        Mutant("negated", lambda p, q: -_reference(p, q), "A KL is never negative."),
        Mutant("all rows together", lambda p, q: np.sum(_reference(p, q)), "Each row has a KL of its own."),
        Mutant(
            "cross-entropy",
            lambda p, q: -(np.asarray(p) * np.log(np.maximum(q, 1e-300))).sum(-1),
            "This is the cross-entropy: the entropy is still in it.",
        ),
        Mutant(
            "a small number inside",
            lambda p, q: (np.asarray(p) * np.log((np.asarray(p) + 1e-6) / (np.asarray(q) + 1e-6))).sum(-1),
            "A small number inside shifts every value.",
        ),
        Mutant(
            "absolute",
            lambda p, q: np.abs(
                np.asarray(p) * np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1))
            ).sum(-1),
            "The terms are added with their signs.",
        ),
        Mutant(
            "unweighted",
            lambda p, q: np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1)).mean(
                -1
            ),
            "The logarithms are weighted by π.",
        ),
    ),
    others={
        "SciPy's way": lambda p, q: np.where(
            np.asarray(p) > 0,
            np.asarray(p) * (np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300))),
            0,
        ).sum(-1)
    },
)
