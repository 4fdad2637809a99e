"""Several rewards, none of which drowns the others."""

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
from grpo_ref.kernels.advantages import normalized_then_summed


def _reference(components: Any, weights: Any, eps: float = 1e-4) -> Any:
    components, weights = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    return normalized_then_summed(components, weights, ddof=0, eps=eps)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    scales = 10.0 ** rng.integers(-1, 3, 3)
    components = rng.integers(0, 3, (size, size + 1, 3)) * scales
    return components, rng.uniform(0.2, 2.0, 3), rng.choice([1e-8, 1e-4, 1e-2])


def _of(total: Any = None, batch: Any = None) -> Function:
    def answer(components: Any, weights: Any, eps: float = 1e-4) -> Any:
        r, w = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
        a = (total or _total)(r, w, eps)
        return (batch or _batch)(a, eps)

    return answer


def _each(r: Any, eps: float, axis: Any = 1) -> Any:
    return (r - r.mean(1, keepdims=True)) / (r.std(axis, keepdims=True) + eps)


def _total(r: Any, w: Any, eps: float) -> Any:
    return _each(r, eps) @ w


def _batch(a: Any, eps: float) -> Any:
    return (a - a.mean()) / (a.std() + eps)


def _scale(f: Function) -> str | None:
    components, weights = np.array([[[1.0, 0.3], [0.0, 0.1], [0.0, 0.2]]]), np.array([1.0, 0.5])
    same = np.allclose(f(components, weights, 1e-12), f(components * [1.0, 100.0], weights, 1e-12), atol=1e-6)
    return None if same else "a criterion counted in other units should change nothing"


PROBLEM = Problem(
    id="advantages/gdpo",
    title="Several rewards, none of which drowns the others",
    function="gdpo_advantages",
    reference=_reference,
    background=(
        "Correctness, format, length: when several rewards are added before they are normalized, the one with the widest"
        " spread decides alone. GDPO normalizes each one in its group first."
    ),
    task=(
        "Write `gdpo_advantages(components, weights, eps=1e-4)`, in three steps:\n\n"
        "    Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps),    mean and std over the G completions of one prompt\n"
        "    aᵢ  = Σₖ wₖ Aᵢₖ\n"
        "    Aᵢ  = (aᵢ - mean(a)) / (std(a) + eps),    mean and std over all completions of the batch"
    ),
    inputs="components: (P, G, K), one reward a criterion.\nweights: (K,).\neps: added to every std.",
    output="(P, G) advantages.",
    constraints="Every std divides by the number of its members (ddof 0).",
    source='GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`, there with ddof 1.',
    hints=(
        "Which axis holds the completions of a prompt now, and which the criteria?",
        "Steps one and two: normalize along axis 1, then `@ weights` sums over the last axis.",
        "each = (r - r.mean(1, keepdims=True)) / (r.std(1, keepdims=True) + eps); a = each @ weights; (a - a.mean()) / (a.std() + eps)",
    ),
    checks=(
        Case(
            "Two criteria of different scale",
            ([[[1, 0], [0, 100]]], [1.0, 0.5], 0.0),
            np.array([[1.0, -1.0]]),
            why="the first completion has 1 and -1, together 1 - 0.5 = 0.5; the second has -0.5; their std is 0.5",
            shown=True,
        ),
        Case(
            "One group agrees on everything",
            ([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], [1.0, 1.0], 0.5),
            np.array([[1.0, -1.0], [0.0, 0.0]]) / (1.0 / np.sqrt(2.0) + 0.5),
            why="stds 1/2 and eps 1/2 give ±1/2 each, ±1 together; over the batch 1 -1 0 0 has std 1/√2",
        ),
        Case(
            "A criterion on which the group agrees adds nothing",
            ([[[1, 0.1], [0, 0.1]]], [1.0, 5.0], 0.5),
            np.array([[0.5, -0.5]]),
            why="±1/2 from the first, 0 from the second; the std of the batch is 1/2: 0.5 / (0.5 + 0.5)",
        ),
        Holds("The units of a criterion do not matter", _scale, why="each is divided by its own spread"),
        Unchanged((np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([1.0, 0.5]))),
        Drawn("Random rewards agree", _draw, why="three criteria of different scale"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "summed first",
            _of(total=lambda r, w, e: _each((r @ w)[..., None], e)[..., 0]),
            "The rewards are summed before they are normalized: that is plain GRPO, and the widest spread decides.",
        ),
        Mutant(
            "weights forgotten", _of(total=lambda r, w, e: _each(r, e).sum(-1)), "The weights are not used."
        ),
        Mutant(
            "weighted too early",
            _of(total=lambda r, w, e: _each(r * w, e).sum(-1)),
            "Weights that are applied before the normalization are divided out again.",
        ),
        Mutant("no last step", _of(batch=lambda a, e: a), "The normalization over the batch is missing."),
        Mutant(
            "last step in the group",
            _of(batch=lambda a, e: (a - a.mean(-1, keepdims=True)) / (a.std(-1, keepdims=True) + e)),
            "The last step is over the whole batch, not over each group.",
        ),
        Mutant(
            "averaged over criteria",
            _of(total=lambda r, w, e: _each(r, e) @ w / w.sum()),
            "The criteria are summed with their weights, not averaged.",
        ),
        Mutant(
            "sample std",
            _of(
                total=lambda r, w, e: (
                    (r - r.mean(1, keepdims=True)) / (r.std(1, keepdims=True, ddof=1) + e) @ w
                )
            ),
            "This looks like the sample standard deviation, ddof=1; here the divisor is G.",
        ),
        Mutant(
            "std of the batch",
            _of(total=lambda r, w, e: _each(r, e, (0, 1)) @ w),
            "In the first step each group has its own std.",
        ),
        Mutant("eps fixed", lambda r, w, eps=1e-4: _reference(r, w), "The argument eps is not used."),
    ),
    others={
        "a loop over criteria": lambda r, w, eps=1e-4: _batch(
            sum(x * _each(np.asarray(r, float)[..., k], eps) for k, x in enumerate(w)), eps
        )
    },
)
