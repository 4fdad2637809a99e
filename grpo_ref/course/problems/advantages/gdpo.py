"""Several rewards, none of which drowns the others."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grpo_ref.advantages import normalized_then_summed
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.domain.rows import (
    BINARY,
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    SCALED_ROWS,
    SOME_CONSTANT,
    Pattern,
    one_axis_before,
)
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

AGREED = Pattern(
    "whole numbers, some equal", lambda source, values: np.round(SOME_CONSTANT.make(source, values))
)
GROUPWISE = (MIXED, BINARY, LEVELS, AGREED, SCALED_ROWS, ONE_FAR_OUT)


def _differ(values: Mapping[str, Any]) -> bool:
    """Return whether some advantage is more than rounding error divided by eps twice. Whole numbers leave no
    rounding error.
    """
    components, weights = np.asarray(values["components"]), np.asarray(values["weights"])
    are_whole = bool((components == np.floor(components)).all())
    return are_whole or components.shape[1] == 1 or bool((np.ptp(components, axis=1) * weights).any())


DOMAIN = Domain(
    {
        "components": Real(
            "P G K",
            (-10, 10),
            rows=tuple(map(one_axis_before, GROUPWISE)),
            meaning="the rewards of the G completions of each prompt by K criteria",
        ),
        "weights": Real("K", (-5, 5), at=(0, 1), meaning="w, one for each criterion"),
        "eps": Scalar(1e-4, (1e-4, 1), at=(1,), meaning="added to every standard deviation"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "K": (1, 3)},
    large={"P": 40, "G": 40},
    rules=(
        Rule(
            "If G is above 1 and some reward is no whole number, some criterion of a weight other than 0 sets a"
            " group's completions apart.",
            _differ,
        ),
    ),
)


def _reference(components: Any, weights: Any, eps: float = 1e-4) -> Any:
    components, weights = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    return normalized_then_summed(components, weights, ddof=0, eps=eps)


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


def _sample_std(r: Any) -> Any:
    return np.sqrt(r.var(1, keepdims=True) * r.shape[1] / max(r.shape[1] - 1, 1))


def _batch(a: Any, eps: float) -> Any:
    return (a - a.mean()) / (a.std() + eps)


def _scale(f: Function) -> str | None:
    components, weights = np.array([[[100.0, 30.0], [0.0, 10.0], [0.0, 20.0]]]), np.array([1.0, 0.5])
    same = np.allclose(f(components, weights), f(components * [1.0, 100.0], weights), atol=1e-4)
    return None if same else "a criterion counted in other units should change nothing"


PROBLEM = Problem(
    id="advantages/gdpo",
    title="Several rewards, none of which drowns the others",
    function="gdpo_advantages",
    reference=_reference,
    background=(
        "The policy, the language model in training, answers each prompt G times; these answers"
        " (completions) form the prompt's group. Often they are judged by several criteria: is the answer"
        " right, is its format, is it short? If the rewards are added up first and compared within the group"
        " afterwards, the criterion with the widest spread decides nearly alone: beside a length that varies"
        " by hundreds, right or wrong is a matter of 1. GDPO turns each criterion into an advantage of its"
        " own first, each in units of its own spread, and adds these up."
    ),
    task=(
        "Write `gdpo_advantages(components, weights, eps=1e-4)`. rᵢₖ is the reward of completion i by criterion k,"
        " and wₖ the weight of the criterion. There are three steps:\n\n"
        "    Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps)\n"
        "    aᵢ  = Σₖ wₖ Aᵢₖ\n"
        "    Aᵢ  = (aᵢ - mean(a)) / (std(a) + eps)\n\n"
        "In the first step mean and standard deviation run over the G completions of one prompt, for each criterion"
        " by itself; in the last one over all P times G completions of the batch. Every standard deviation is that"
        " of a population: it divides the sum of squares by the number of members, not by one less. eps is added to"
        " every standard deviation."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G) advantages; over the whole batch they sum to zero.",
    constraints=(
        "A criterion on which a group agrees adds 0 there. If G is 1, every advantage is 0.\n"
        "Weights may be negative, as for a penalty, or 0."
    ),
    notes=(
        "TRL divides by one less than the number of members (ddof 1) in both steps. verl takes the last step over"
        " tokens instead of completions, so that long ones count more."
    ),
    kernel="grpo_ref.normalized_then_summed",
    source='GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`.',
    hints=(
        "Which axis holds the completions of a prompt now, and which the criteria?",
        "Steps one and two: normalize along axis 1, then `@ weights` sums over the last axis.",
        "each = (r - r.mean(1, keepdims=True)) / (r.std(1, keepdims=True) + eps); a = each @ weights; (a - a.mean()) / (a.std() + eps)",
    ),
    checks=(
        Case(
            "Two criteria of different scale",
            ([[[1, 0], [0, 9]]], [1.0, 0.5], 0.5),
            np.array([[1 / 11, -1 / 11]]),
            why=(
                "The stds are 1/2 and 9/2. The first completion has 0.5 / 1 = 0.5 and -4.5 / 5 = -0.9, together"
                " 0.5 - 0.5 · 0.9 = 0.05; the second has -0.05. Their std is 0.05: 0.05 / 0.55 = 1/11."
            ),
            shown=True,
        ),
        Case(
            "One group agrees on everything",
            ([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], [1.0, 1.0], 0.5),
            np.array([[1.0, -1.0], [0.0, 0.0]]) / (1.0 / np.sqrt(2.0) + 0.5),
            why=(
                "In the first group each criterion gives ±0.5 / (0.5 + 0.5), together ±1; in the second all give 0."
                " Over the batch 1, -1, 0 and 0 have the std 1/√2: 1 / (0.7071 + 0.5) = 0.8284."
            ),
            shown=True,
        ),
        Case(
            "A criterion on which the group agrees adds nothing",
            ([[[1, 0.1], [0, 0.1]]], [1.0, 5.0], 0.5),
            np.array([[0.5, -0.5]]),
            why="±1/2 from the first, 0 from the second; the std of the batch is 1/2: 0.5 / (0.5 + 0.5)",
        ),
        Case(
            "Nobody differs",
            ([[[1, 2], [1, 2], [1, 2]]], [1.0, 1.0], 0.5),
            np.zeros((1, 3)),
            why="0 / (0 + 0.5) in both normalizations",
        ),
        Case(
            "Groups of one",
            ([[[3.0, 1.0]], [[5.0, 2.0]]], [1.0, 1.0]),
            np.zeros((2, 1)),
            why="a group of one is its own mean, whatever the other groups have",
        ),
        Holds("The units of a criterion do not matter", _scale, why="each is divided by its own spread"),
        Unchanged((np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([1.0, 0.5]))),
        FromDomain(),
        *found_cases(__file__),
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
            _of(total=lambda r, w, e: (r - r.mean(1, keepdims=True)) / (_sample_std(r) + e) @ w),
            "This looks like the sample standard deviation, ddof=1; here the divisor is G.",
        ),
        Mutant(
            "std of the batch",
            _of(total=lambda r, w, e: _each(r, e, (0, 1)) @ w),
            "In the first step each group has its own std.",
        ),
        Mutant(
            "eps left out",
            lambda r, w, eps=1e-4: _of()(r, w, 0.0),
            "eps is not used: where everybody agrees, 0 is divided by 0.",
        ),
        Mutant("eps fixed", lambda r, w, eps=1e-4: _reference(r, w), "The argument eps is not used."),
    ),
    others={
        "a loop over criteria": lambda r, w, eps=1e-4: _batch(
            sum(x * _each(np.asarray(r, float)[..., k], eps) for k, x in enumerate(w)), eps
        )
    },
)
