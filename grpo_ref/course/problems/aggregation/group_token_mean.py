"""The mean over the tokens of each group: DAPO's average, as its paper prints it."""

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
        "values": Real("P G T", (-1e6, 1e6), padding="mask", meaning="one per token"),
        "mask": Mask("P G T"),
    },
    sizes={"P": (1, 4), "G": (1, 3), "T": (0, 4)},
    large={"P": 20, "G": 20, "T": 100},
)


def _reference(values: Any, mask: Any) -> Any:
    values, mask = np.asarray(values, dtype=float), np.asarray(mask)
    return float(masked_sum(values * aggregation.group_token_mean(mask), mask, axis=(-3, -2, -1)))


def _answer_of(formula: Any) -> Function:
    """Return an answer that gets arrays with zeros in the padding, unless the formula reads the padding."""
    return lambda values, mask: float(
        formula(np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float))
    )


def _mean_of_groups(v: Any, m: Any) -> Any:
    return (v.sum((1, 2)) / np.maximum(m.sum((1, 2)), 1.0)).mean()


VALUES = np.array([[[6.0, 2.0], [4.0, 99.0]], [[8.0, 99.0], [99.0, 99.0]]])
MASK = np.array([[[1, 1], [1, 0]], [[1, 0], [0, 0]]])

PROBLEM = Problem(
    id="aggregation/group_token_mean",
    title="Every prompt counts the same",
    function="group_token_mean",
    reference=_reference,
    background=(
        "A batch has P prompts, and for each prompt a group of G answers, the completions. The mean over all"
        " tokens of the batch, `aggregation/token_mean`, gives every token the same weight. A prompt whose"
        " answers are long then counts more than a prompt whose answers are short: of two prompts with answers"
        " of 10 and of 1000 tokens, the first has 10/1010 of the weight, less than a hundredth. verl and TRL"
        " average like this and call it DAPO. The paper of DAPO takes the mean over the tokens of each group"
        " first, and then the mean over the prompts, so that each of the two prompts has half of the weight."
    ),
    task=(
        "Write `group_token_mean(values, mask)`, the average of the paper:\n\n"
        "    1/P · Σ over the groups of (Σ m v / Σ m)\n\n"
        "The two sums in the brackets run over the tokens of one group, which are the last two axes. v are the"
        " values and m is the mask, which says what is a token. Where m is 0 stands padding, and what `values`"
        " holds there never matters, be it NaN or infinity. A group without any token adds 0, and still counts"
        " in P."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number; 0 if there is no token.",
    notes=(
        "SkyRL offers this average as `prompt_mean`. With one prompt it is the same as `token_mean`. The function"
        " of this package gives the weights m / (P Σ m), to be multiplied by the values and summed."
    ),
    kernel="grpo_ref.aggregation.group_token_mean",
    source="Yu et al. 2025, DAPO, eq. 8 and 12 (arXiv:2503.14476).",
    hints=(
        "How many tokens does each group have? These are P numbers, not one.",
        "Sum np.where(mask > 0, values, 0) over the axes (1, 2), and divide by the numbers of tokens, at least 1.",
        "(np.where(mask > 0, values, 0).sum((1, 2)) / np.maximum(mask.sum((1, 2)), 1)).mean()",
    ),
    checks=(
        Case(
            "A group with three tokens and one with a single token",
            (VALUES, MASK),
            6.0,
            why="The first group has the mean (6 + 2 + 4) / 3 = 4, the second 8, and (4 + 8) / 2 = 6. The mean over"
            " the batch would be 20 / 4 = 5.",
            shown=True,
        ),
        Case(
            "One prompt",
            ([[[1.0, 2.0], [6.0, 9.0]]], [[[1, 1], [1, 0]]]),
            3.0,
            why="(1 + 2 + 6) / 3, the mean over all of its tokens",
        ),
        Case(
            "NaN in the padding",
            ([[[2.0, np.nan]], [[4.0, np.inf]]], [[[1, 0]], [[1, 0]]]),
            3.0,
            why="what the padding holds never matters",
        ),
        Case(
            "A group without tokens",
            ([[[4.0, 2.0]], [[9.0, 9.0]]], [[[1, 1]], [[0, 0]]]),
            1.5,
            why="the mean of the first group is 3, the second adds 0, and there are two groups",
        ),
        Case("No token at all", ([[[5.0]]], [[[0]]]), 0.0, why="nothing to average, and no 0/0"),
        Unchanged((VALUES, MASK)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "mean over the batch",
            _answer_of(lambda v, m: v.sum() / max(m.sum(), 1.0)),
            "This divides by the tokens of the whole batch, as verl and TRL do: prompts with long answers count more.",
        ),
        Mutant(
            "mean of means",
            _answer_of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1.0)).mean()),
            "This gives every completion the same weight. It is GRPO's average.",
        ),
        Mutant(
            "empty groups skipped",
            _answer_of(lambda v, m: _mean_of_groups(v, m) * len(m) / max(m.any((1, 2)).sum(), 1)),
            "A group without tokens counts in P.",
        ),
        Mutant(
            "not divided by the groups",
            _answer_of(lambda v, m: _mean_of_groups(v, m) * len(m)),
            "The mean over the prompts is missing: divide by P.",
        ),
        Mutant(
            "padding counted",
            _answer_of(lambda v, m: v.sum() / max(v.size, 1)),
            "It divides by all positions, the padding included.",
        ),
        Mutant(
            "NaN times 0",
            lambda values, mask: float(
                _mean_of_groups(np.asarray(values, float) * np.asarray(mask), np.asarray(mask, float))
            ),
            "NaN in the padding spreads: NaN times 0 is NaN.",
        ),
        Mutant(
            "0/0",
            _answer_of(lambda v, m: (v.sum((1, 2)) / m.sum((1, 2))).mean()),
            "A group without tokens divides by zero.",
        ),
        Mutant(
            "mean over the places",
            _answer_of(lambda v, m: (v.sum(1) / np.maximum(m.sum(1), 1.0)).mean() if v.shape[-1] else 0.0),
            "It averages over the completions at each place, and then over the places.",
        ),
    ),
    others={
        "a loop over the groups": lambda v, m: (
            sum(
                np.asarray(a, float)[np.asarray(b) > 0].mean() if np.any(b) else 0.0
                for a, b in zip(v, m, strict=True)
            )
            / len(v)
        )
    },
)
