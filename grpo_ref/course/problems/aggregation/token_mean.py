"""The mean over the tokens of the batch."""

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
    return float(masked_sum(values * aggregation.token_mean(mask), mask, axis=(-3, -2, -1)))


def _of(formula: Any) -> Function:
    return lambda values, mask: float(formula(np.asarray(values, float), np.asarray(mask, float)))


VALUES, MASK = np.array([[1.0, 2.0, 3.0], [6.0, 99.0, 99.0]]), np.array([[1, 1, 1], [1, 0, 0]])

PROBLEM = Problem(
    id="aggregation/token_mean",
    title="Every token counts the same",
    function="token_mean",
    reference=_reference,
    background=(
        "A training step has one number per token that the model wrote, for example how well it did there,"
        " and needs"
        " one number for the whole batch: the average. But which one? The answers of the model, the"
        " completions, have"
        " different lengths. The token mean counts every token of the batch the same, so a completion of 1000 tokens"
        " counts"
        " a hundred times as much as one of 10. It was introduced because averaging each completion by itself"
        " makes the tokens of long answers count too little: neither good reasoning nor empty talk in them"
        " was"
        " learned from as it should be."
    ),
    task=(
        "Write `token_mean(values, mask)`, the mean of `values` over all tokens of the batch:\n\n"
        "    Σ m v / Σ m\n\n"
        "Both sums run over all rows and columns. v are the values, one row per completion; m is the mask,"
        " which says"
        " what is a token. Where m is 0 stands padding: it only fills a row up, is not counted, and what"
        " `values` holds"
        " there never matters, be it NaN or infinity. If the batch has no token at all, the result is 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number; 0 if there is no token.",
    notes=(
        'This is verl\'s default, `token-mean`, and TRL\'s `loss_type="bnpo"`. TRL\'s `loss_type="dapo"` counts the'
        " tokens of a whole training step instead, which may consist of several batches. The function of"
        " this package gives the weights m / Σ m, to be multiplied by the values and summed. The paper of DAPO, from"
        " which the trainers took this average, divides by the tokens of each group instead, see"
        " `aggregation/group_token_mean`."
    ),
    kernel="grpo_ref.token_mean",
    source="verl `token-mean`; TRL `bnpo`; after DAPO (arXiv:2503.14476).",
    hints=(
        "NaN times 0 is NaN. How do you leave out what the padding holds?",
        "np.where(mask > 0, values, 0) drops it; then sum, and divide by the number of tokens.",
        "np.where(mask > 0, values, 0).sum() / max(mask.sum(), 1)",
    ),
    checks=(
        Case(
            "Three tokens and one",
            (VALUES, MASK),
            3.0,
            why="Four tokens: (1 + 2 + 3 + 6) / 4. The two 99 are padding.",
            shown=True,
        ),
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
        FromDomain(),
        *found_cases(__file__),
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
            _of(lambda v, m: (v * m).sum() / max(v.size, 1)),
            "It divides by all positions, the padding included.",
        ),
        Mutant("no mask", _of(lambda v, m: v.sum() / max(v.size, 1)), "The mask is not used."),
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
