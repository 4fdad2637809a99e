"""GRPO's average."""

from typing import Any

import numpy as np

from grpo_ref import aggregation
from grpo_ref.arrays import masked_sum
from grpo_ref.course.grading.domain.arguments import Mask, Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "values": Real("N T", (-1e6, 1e6), padding="mask", meaning="one per token, one row per completion"),
        "mask": Mask("N T"),
    },
    sizes={"N": (1, 4), "T": (0, 5)},
    large={"N": 40, "T": 300},
)


def _reference(values: Any, mask: Any) -> Any:
    values, mask = np.asarray(values, dtype=float)[None], np.asarray(mask)[None]
    weights = aggregation.sequence_mean_token_mean(mask)
    return float(masked_sum(values * weights, mask, axis=(-3, -2, -1)))


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
    background=(
        "A training step has one number per token that the model wrote and needs one number for the whole"
        " batch. GRPO"
        " averages twice: first over the tokens of each answer (each completion), then over the completions."
        " So every"
        " completion counts the same, however long it is, and a token of a long completion counts less than"
        " one of a"
        " short completion. The consequence is known as length bias: in a long wrong answer each token is"
        " hardly"
        " blamed, so wrong answers tend to grow longer during training."
    ),
    task=(
        "Write `sequence_mean(values, mask)`, the mean over completions of the mean over their tokens:\n\n"
        "    1/N Σᵢ ( 1/|oᵢ| Σₜ mᵢₜ vᵢₜ )\n\n"
        "N is the number of completions, which are the rows; v are the values, m is the mask, which says"
        " what is a"
        " token; |oᵢ| is the number of tokens of completion i, the sum of its row of the mask. Where m is 0"
        " stands"
        " padding: it only fills a row up, is not counted, and what `values` holds there never matters, be"
        " it NaN or"
        " infinity. A completion without any token adds 0 to the outer sum and is still one of the N. A token"
        " whose value is 0 is a token like any other."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number; 0 if there is no token at all.",
    notes=(
        "TRL counts a completion without tokens as one of the N, as here; verl leaves it out of N. Dr. GRPO"
        " divides by"
        " a constant instead of |oᵢ|, which takes the length bias away: see `aggregation/fixed_length`. The"
        " function of this package gives the weight of each token, m / (N |oᵢ|)."
    ),
    kernel="grpo_ref.sequence_mean_token_mean",
    source='DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.',
    hints=(
        "Two averages, one inside the other. Along which axis is the inner one?",
        "Divide each row's sum by its own number of tokens, but never by 0.",
        "(np.where(mask > 0, values, 0).sum(-1) / np.maximum(mask.sum(-1), 1)).mean()",
    ),
    checks=(
        Case(
            "Three tokens and one",
            (VALUES, MASK),
            4.0,
            why="The rows have the means (1 + 2 + 3) / 3 = 2 and 6 / 1 = 6; the mean of these is 4. The two 99 are padding.",
            shown=True,
        ),
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "token mean",
            _of(lambda v, m: v.sum() / max(m.sum(), 1)),
            "This gives every token the same weight, so long answers count more. It is the token mean of verl and TRL.",
        ),
        Mutant(
            "empty ones left out",
            _of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)),
            "Empty completions are left out of N. That is verl's way; here they count.",
        ),
        Mutant(
            "padded length",
            _of(lambda v, m: v.sum() / max(v.size, 1)),
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
        Mutant("no mask", lambda v, m: float(np.sum(v)) / max(np.size(v), 1), "The mask is not used."),
        Mutant(
            "over the other axis",
            _of(lambda v, m: (v.sum(0) / np.maximum(m.sum(0), 1)).sum() / max(v.shape[1], 1)),
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
