"""Dr. GRPO's constant."""

from typing import Any

import numpy as np

from grpo_ref.arrays import masked_sum
from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Mutant,
    Problem,
    Raises,
    Unchanged,
    changing_inputs,
)
from grpo_ref.kernels import aggregation


def _reference(values: Any, mask: Any, max_length: int) -> Any:
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    return float(masked_sum(values * aggregation.fixed_length(mask, max_length), mask, axis=(-3, -2, -1)))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    mask = (np.arange(size + 1) < rng.integers(0, size + 2, (size + 1, 1))).astype(float)
    return np.where(mask > 0, rng.normal(size=mask.shape), 99.0), mask, int(rng.integers(size + 1, size + 6))


def _of(formula: Any) -> Function:
    return lambda v, m, length: float(
        formula(np.where(np.asarray(m) > 0, v, 0.0), np.asarray(m, float), length)
    )


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

PROBLEM = Problem(
    id="aggregation/fixed_length",
    title="A constant instead of the length",
    function="fixed_length_mean",
    reference=_reference,
    background=(
        "Dividing by a completion's own length makes each token of a long wrong answer cheap, so wrong answers grow."
        " Dr. GRPO divides by a constant: the budget."
    ),
    task="Write `fixed_length_mean(values, mask, max_length)`:\n\n    1/N Σᵢ (1/L) Σₜ m v,    L = max_length for every completion",
    inputs="values: (N, T), one per token; padding holds arbitrary numbers, NaN included.\nmask: (N, T) 1 on tokens, 0 on padding.\nmax_length: L, the generation budget in tokens, at least 1.",
    output="A number.",
    constraints="Raise ValueError if max_length is less than 1.",
    notes='TRL `loss_type="dr_grpo"` changes only this; for Dr. GRPO the advantages must also be centered only, with scale_rewards="none".',
    source="Liu et al. 2025, Dr. GRPO (arXiv:2503.20783).",
    hints=(
        "Which number does a completion's length have in this formula?",
        "The budget is not T: the batch at hand may hold shorter completions only.",
        "np.where(mask > 0, values, 0).sum() / (len(values) * max_length)",
    ),
    checks=(
        Case(
            "Three tokens and one, of a budget of 4", (VALUES, MASK, 4), 1.5, why="12 / (2 · 4)", shown=True
        ),
        Case("The budget is not the longest completion", (VALUES, MASK, 12), 0.5, why="12 / (2 · 12)"),
        Case(
            "An empty completion is one of N",
            ([[4.0, 2.0], [9.0, 9.0]], [[1, 1], [0, 0]], 2),
            1.5,
            why="6 / (2 · 2)",
        ),
        Case(
            "NaN in the padding",
            ([[2.0, np.nan]], [[1, 0]], 2),
            1.0,
            why="what the padding holds never matters",
        ),
        Raises(
            "A budget without tokens is refused",
            ((VALUES, MASK, 0), (VALUES, MASK, -1)),
            why="nothing can be divided by it",
        ),
        Unchanged((VALUES, MASK, 4)),
        Drawn("Random batches agree", _draw, why="ragged, several budgets"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "own length",
            _of(lambda v, m, n: (v.sum(-1) / np.maximum(m.sum(-1), 1)).mean()),
            "It divides by the completion's own length: that is GRPO's average.",
        ),
        Mutant(
            "all tokens",
            _of(lambda v, m, n: v.sum() / max(m.sum(), 1)),
            "It divides by the tokens of the batch: that is DAPO's average.",
        ),
        Mutant(
            "padded length",
            _of(lambda v, m, n: v.mean()),
            "It divides by T, the longest completion at hand, not by the budget.",
        ),
        Mutant(
            "longest completion",
            _of(lambda v, m, n: v.sum() / len(v) / max(m.sum(-1).max(), 1)),
            "It divides by the longest completion, not by the budget.",
        ),
        Mutant(
            "not by N", _of(lambda v, m, n: v.sum() / n), "It is not divided by the number of completions."
        ),
        Mutant("not by L", _of(lambda v, m, n: v.sum() / len(v)), "It is not divided by the budget."),
        Mutant(
            "empty ones left out",
            _of(lambda v, m, n: v.sum() / max((m.sum(-1) > 0).sum(), 1) / n),
            "Empty completions are left out of N.",
        ),
        Mutant(
            "NaN times 0",
            lambda v, m, n: float((np.asarray(v, float) * np.asarray(m)).sum() / len(np.asarray(v)) / n),
            "NaN in the padding spreads.",
        ),
        Mutant(
            "any budget",
            _of(lambda v, m, n: v.sum() / len(v) / n if n else 0.0),
            "A budget without tokens has to be refused.",
        ),
    ),
    others={
        "a loop": lambda v, m, n: (
            sum(_reference([r], [k], n) for r, k in zip(np.asarray(v), np.asarray(m), strict=True)) / len(v)
        )
    },
)
