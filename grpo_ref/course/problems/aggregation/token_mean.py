"""DAPO's average."""

from typing import Any

import numpy as np

from grpo_ref.arrays import masked_sum
from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels import aggregation


def _reference(values: Any, mask: Any) -> Any:
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    return float(masked_sum(values * aggregation.token_mean(mask), mask, axis=(-3, -2, -1)))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    mask = (np.arange(size + 1) < rng.integers(0, size + 2, (size + 1, 1))).astype(float)
    return np.where(mask > 0, rng.normal(size=mask.shape), 99.0), mask


def _of(formula: Any) -> Function:
    return lambda values, mask: float(formula(np.asarray(values, float), np.asarray(mask, float)))


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

PROBLEM = Problem(
    id="aggregation/token_mean",
    title="Every token counts the same",
    function="token_mean",
    reference=_reference,
    background="How a trainer averages decides which answers teach most. DAPO gives every token of the batch the same weight.",
    task="Write `token_mean(values, mask)`:\n\n    Σ m v / Σ m,    over all tokens of the batch",
    inputs="values: (N, T), one per token; padding holds arbitrary numbers, NaN included.\nmask: (N, T) 1 on tokens, 0 on padding.",
    output="A number; 0 if no token is left.",
    source="DAPO, eq. 12 (arXiv:2503.14476); verl `token-mean`.",
    hints=(
        "NaN times 0 is NaN. How do you leave out what the padding holds?",
        "np.where(mask > 0, values, 0) drops it; then sum, and divide by the number of tokens.",
        "np.where(mask > 0, values, 0).sum() / max(mask.sum(), 1)",
    ),
    checks=(
        Case("Three tokens and one", (VALUES, MASK), 3.0, why="(1 + 2 + 3 + 6) / 4", shown=True),
        Case(
            "NaN in the padding", ([[2.0, np.nan]], [[1, 0]]), 2.0, why="what the padding holds never matters"
        ),
        Case("No token at all", ([[5.0]], [[0]]), 0.0, why="nothing to average, and no 0/0"),
        Case(
            "An empty completion",
            ([[4.0, 2.0], [9.0, 9.0]], [[1, 1], [0, 0]]),
            3.0,
            why="it has no tokens to count",
        ),
        Case(
            "Truth values as a mask", ([[2.0, 7.0]], np.array([[True, False]])), 2.0, why="a mask may be bool"
        ),
        Unchanged((VALUES, MASK)),
        Drawn("Random batches agree", _draw, why="ragged, some completions empty"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "mean of means",
            _of(lambda v, m: np.mean((v * m).sum(-1) / np.maximum(m.sum(-1), 1))),
            "This averages completions, not tokens: short ones count more. It is GRPO's average.",
        ),
        Mutant(
            "padding counted",
            _of(lambda v, m: (v * m).mean()),
            "It divides by all positions, the padding included.",
        ),
        Mutant("no mask", _of(lambda v, m: v.mean()), "The mask is not used."),
        Mutant("sum", _of(lambda v, m: np.where(m > 0, v, 0).sum()), "It is not divided."),
        Mutant(
            "divided by completions",
            _of(lambda v, m: np.where(m > 0, v, 0).sum() / len(v)),
            "It divides by completions; every token counts one.",
        ),
        Mutant(
            "NaN times 0",
            _of(lambda v, m: (v * m).sum() / max(m.sum(), 1)),
            "NaN in the padding spreads: NaN times 0 is NaN.",
        ),
        Mutant(
            "0/0",
            _of(lambda v, m: np.where(m > 0, v, 0).sum() / m.sum()),
            "A batch without tokens divides by zero.",
        ),
        Mutant(
            "nanmean",
            _of(lambda v, m: np.nanmean(np.where(m > 0, v, np.nan)) if m.sum() else np.nan),
            "A batch without tokens should give 0.",
        ),
        Mutant(
            "fixed length",
            _of(lambda v, m: np.where(m > 0, v, 0).sum() / v.size),
            "It divides by N T, a constant. That is Dr. GRPO's average.",
        ),
    ),
    others={
        "boolean indexing": lambda v, m: np.asarray(v, float)[np.asarray(m) > 0].mean() if np.any(m) else 0.0
    },
)
