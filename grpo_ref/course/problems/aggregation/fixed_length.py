"""Dr. GRPO's constant."""

from typing import Any

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.grading.domain.arguments import Mask, Real, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Mutant,
    Problem,
    Raises,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token, one row per completion"),
        "mask": Mask("N T"),
        "max_length": Whole(
            (1, 5000),
            at=(1, 2, 3),
            refused=(0, -1),
            meaning="L, the budget in tokens; it may be smaller or larger than T",
        ),
    },
    sizes={"N": (1, 4), "T": (0, 5)},
    large={"N": 40, "T": 300},
)


def _reference(values: Any, mask: Any, max_length: int) -> Any:
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    return float(masked_sum(values * aggregation.fixed_length(mask, max_length), mask, axis=(-3, -2, -1)))


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
        "GRPO divides the sum over the tokens of an answer (a completion) by the length of that answer. So"
        " in a long"
        " wrong answer each token is blamed little, in a short one much, and wrong answers grow longer during"
        " training. Dr. GRPO divides by the same constant for all completions, however long they are: the"
        " budget, the"
        " largest number of tokens that the model is allowed to write. Then a token's weight does not depend"
        " on the"
        " length of the completion it stands in."
    ),
    task=(
        "Write `fixed_length_mean(values, mask, max_length)`:\n\n"
        "    1/N Σᵢ ( 1/L Σₜ mᵢₜ vᵢₜ ),    L = max_length for every completion\n\n"
        "N is the number of completions, which are the rows; v are the values, m is the mask, which says"
        " what is a"
        " token. Where m is 0 stands padding: it only fills a row up, and what `values` holds there never"
        " matters, be"
        " it NaN or infinity. A completion without any token adds 0 and is still one of the N. L is divided"
        " by as it"
        " is given, whether the rows are shorter, as in a batch without long completions, or longer."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number; 0 if there is no token at all.",
    constraints="Raise ValueError if max_length is less than 1.",
    notes=(
        'TRL\'s `loss_type="dr_grpo"` changes only this; for Dr. GRPO the advantages must also be centered only, with'
        ' `scale_rewards="none"`. verl\'s `seq-mean-token-sum-norm` divides by T unless `loss_scale_factor` is set. The function of this package gives the weight of each token, m / (N L).'
    ),
    kernel="grpo_ref.fixed_length",
    source='Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `loss_type="dr_grpo"`.',
    hints=(
        "Which number does a completion's length have in this formula?",
        "The budget is not T: the batch at hand may hold shorter completions only.",
        "np.where(mask > 0, values, 0).sum() / (len(values) * max_length)",
    ),
    checks=(
        Case(
            "Three tokens and one, of a budget of 4",
            (VALUES, MASK, 4),
            1.5,
            why="The sums 6 and 6 of the rows, each divided by 4, have the mean 1.5. The two 99 are padding.",
            shown=True,
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
        Case(
            "A budget smaller than the rows",
            (VALUES, MASK, 2),
            3.0,
            why="12 / (2 · 2): L is divided by as it is given",
        ),
        Raises(
            "A budget without tokens is refused",
            ((VALUES, MASK, 0), (VALUES, MASK, -1), ([[1.0]], [[0]], 0)),
            why="nothing can be divided by it",
        ),
        Unchanged((VALUES, MASK, 4)),
        FromDomain(),
        *found_cases(__file__),
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
            "It divides by the tokens of the batch: that is the token mean of verl and TRL.",
        ),
        Mutant(
            "padded length",
            _of(lambda v, m, n: v.sum() / max(v.size, 1)),
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
