"""GRPO's average."""

from typing import Any

import numpy as np

from grpo_ref.arrays import masked_sum
from grpo_ref.course.grading.domain.arguments import Mask, Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found import found
from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels import aggregation

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token"),
        "mask": Mask("N T"),
    },
    sizes={"N": (1, 4), "T": (0, 5)},
    large={"N": 40, "T": 200},
)


def _reference(values: Any, mask: Any) -> Any:
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    weights = aggregation.sequence_mean_token_mean(mask)
    return float(masked_sum(values * weights, mask, axis=(-3, -2, -1)))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    mask = (np.arange(size + 1) < rng.integers(0, size + 2, (size + 1, 1))).astype(float)
    return np.where(mask > 0, rng.normal(size=mask.shape), 99.0), mask


def _of(formula: Any) -> Function:
    return lambda values, mask: float(
        formula(np.where(np.asarray(mask) > 0, values, 0.0), np.asarray(mask, float))
    )


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

PROBLEM = Problem(
    id="aggregation/sequence_mean",
    title="Every answer counts the same",
    function="sequence_mean",
    reference=_reference,
    background="GRPO averages within each answer first. So a token of a long answer counts less, good or bad.",
    task="Write `sequence_mean(values, mask)`:\n\n    1/N Σᵢ (1/|oᵢ|) Σₜ m v,    |oᵢ| the tokens of completion i",
    inputs=DOMAIN.inputs,
    constraints=DOMAIN.constraints,
    domain=DOMAIN,
    output="A number. A completion without tokens adds 0 and is still one of the N, as in TRL.",
    notes="verl leaves empty completions out of N. Dr. GRPO divides by a constant instead of |oᵢ|.",
    source='DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.',
    hints=(
        "Two averages, one inside the other. Along which axis is the inner one?",
        "Divide each row's sum by its own number of tokens, but never by 0.",
        "(np.where(mask > 0, values, 0).sum(-1) / np.maximum(mask.sum(-1), 1)).mean()",
    ),
    checks=(
        Case("Three tokens and one", (VALUES, MASK), 4.0, why="means 2 and 6", shown=True),
        Case(
            "An empty completion is one of N",
            ([[4.0, 2.0], [9.0, 9.0]], [[1, 1], [0, 0]]),
            1.5,
            why="(3 + 0) / 2",
        ),
        Case("No token at all", ([[5.0]], [[0]]), 0.0, why="no 0/0"),
        Case(
            "NaN in the padding", ([[2.0, np.nan]], [[1, 0]]), 2.0, why="what the padding holds never matters"
        ),
        Case(
            "Truth values as a mask", ([[2.0, 7.0]], np.array([[True, False]])), 2.0, why="a mask may be bool"
        ),
        Unchanged((VALUES, MASK)),
        Drawn("Random batches agree", _draw, why="ragged, some completions empty"),
        *found(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "token mean",
            _of(lambda v, m: v.sum() / max(m.sum(), 1)),
            "This gives every token the same weight, so long answers count more. It is DAPO's average.",
        ),
        Mutant(
            "empty ones left out",
            _of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)),
            "Empty completions are left out of N. That is verl's way; here they count.",
        ),
        Mutant(
            "padded length",
            _of(lambda v, m: v.mean(-1).mean()),
            "It divides each row by T, not by its tokens.",
        ),
        Mutant(
            "not divided by the length",
            _of(lambda v, m: v.sum(-1).mean()),
            "The sum of a completion is not divided by its length.",
        ),
        Mutant(
            "not divided by N",
            _of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum()),
            "It is not divided by the number of completions.",
        ),
        Mutant(
            "0/0",
            _of(lambda v, m: (v.sum(-1) / m.sum(-1)).mean()),
            "A completion without tokens divides by zero.",
        ),
        Mutant(
            "NaN times 0",
            lambda v, m: float(
                ((np.asarray(v, float) * np.asarray(m)).sum(-1) / np.maximum(np.sum(m, -1), 1)).mean()
            ),
            "NaN in the padding spreads: NaN times 0 is NaN.",
        ),
        Mutant("no mask", lambda v, m: float(np.mean(v)), "The mask is not used."),
        Mutant(
            "over the other axis",
            _of(lambda v, m: (v.sum(0) / np.maximum(m.sum(0), 1)).mean()),
            "The inner average runs over the tokens of a completion.",
        ),
    ),
    others={
        "a loop": lambda v, m: (
            sum(
                sum(x for x, y in zip(r, k, strict=True) if y) / max(sum(k), 1)
                for r, k in zip(np.asarray(v).tolist(), np.asarray(m).tolist(), strict=True)
            )
            / len(v)
        )
    },
)
