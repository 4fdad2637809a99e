"""Exercise: find the groups whose rewards differ."""

from typing import Any

import numpy as np

from grpo_ref import filters
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import GROUPS, HAIRS_APART
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "rewards": Real(
            "P G", (-1e4, 1e4), rows=(*GROUPS, HAIRS_APART), meaning="one row per prompt, a group in each"
        )
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def _reference(rewards: Any) -> Any:
    return filters.mixed_groups(np.asarray(rewards, dtype=float))


PROBLEM = Problem(
    id="advantages/mixed_groups",
    title="Which groups teach anything?",
    function="mixed_groups",
    reference=_reference,
    background=(
        "The policy, the language model in training, answers the same prompt G times, and these answers"
        " (completions) form a group. A completion's advantage says how much better its reward is than the"
        " rest of the group. If all completions of a prompt are right, or all wrong, there is no better and"
        " no worse: every advantage is 0 and the prompt teaches nothing, although its completions have cost"
        " as much to write as the others. DAPO throws such groups away and draws other prompts until the"
        " batch is full."
    ),
    task=(
        "Write `mixed_groups(rewards)`. For each group it says whether its completions differ in reward:\n\n"
        "    True if rᵢ ≠ rⱼ for some completions i and j of the group, else False\n\n"
        "Rewards are any numbers, not only 0 and 1. They are compared exactly: a difference of 1e-12 is one, and"
        " three rewards of 0.1 are equal, whatever rounding makes of their mean."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P,) truth values, Python's or NumPy's (dtype bool).",
    constraints=("A group of one completion has nothing to differ from: False."),
    notes=(
        "Trainers look at the standard deviation: verl keeps groups where it is above 0, and groups of one; Open Instruct drops those"
        " where it is 0 (`filter_zero_std_samples`). Rounding can make it 1e-17 where all rewards are equal."
    ),
    kernel="grpo_ref.mixed_groups",
    source="DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476).",
    hints=(
        "When do the largest and the smallest reward of a group tell you that they differ?",
        "The std of three equal numbers can be 1e-17 instead of 0; comparing two of the rewards is exact.",
        "rewards.max(-1) != rewards.min(-1)",
    ),
    checks=(
        Case(
            "Mixed, all right, all wrong",
            ([[1, 0], [1, 1], [0, 0]],),
            np.array([True, False, False]),
            why="The rewards of the first group differ; the second is all right and the third all wrong.",
            shown=True,
        ),
        Case(
            "Equal rewards that are not round",
            (np.full((1, 3), 0.1),),
            np.array([False]),
            why="0.1 three times is no contrast",
        ),
        Case("A group of one", ([[1.0]],), np.array([False]), why="nothing to differ from"),
        Case("Partial credit", ([[0.5, 0.5, 0.25]],), np.array([True]), why="any difference counts"),
        Case(
            "Differences that cancel",
            ([[-1.0, 1.0], [2.0, 0.0]],),
            np.array([True, True]),
            why="the mean does not matter",
        ),
        Case(
            "The smallest differences",
            (np.array([[0.1, np.nextafter(0.1, 1.0)], [0.0, 1e-20], [1e-20, 1e-20]]),),
            np.array([True, True, False]),
            why="rewards are compared exactly",
        ),
        Unchanged((np.array([[1.0, 0.0]]),)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "some are right",
            lambda r: (np.asarray(r) > 0).any(-1),
            "Groups that are all right are kept here; they teach nothing either.",
        ),
        Mutant(
            "not all right",
            lambda r: ~(np.asarray(r) == 1).all(-1),
            "Groups that are all wrong are kept here; they teach nothing either.",
        ),
        Mutant(
            "mean between 0 and 1",
            lambda r: (np.mean(r, -1) > 0) & (np.mean(r, -1) < 1),
            "This holds for rewards of 0 and 1 only: equal partial credit is no contrast.",
        ),
        Mutant(
            "std above 0",
            lambda r: np.std(np.asarray(r, float), -1) > 0,
            "The std of equal numbers can be off by a rounding.",
        ),
        Mutant("inverted", lambda r: ~_reference(r), "This marks the groups to drop."),
        Mutant(
            "over the prompts",
            lambda r: np.resize(np.max(r, 0) != np.min(r, 0), len(np.asarray(r))),
            "The completions of a prompt are in one row.",
        ),
        Mutant(
            "one answer for all",
            lambda r: np.full(len(np.asarray(r)), np.max(r) != np.min(r)),
            "Each group is judged by itself.",
        ),
        Mutant(
            "numbers for truth values",
            lambda r: _reference(r).astype(float),
            "Truth values are asked for: dtype bool.",
        ),
        Mutant(
            "neighbours compared",
            lambda r: (np.asarray(r)[..., :1] != np.asarray(r)[..., -1:]).any(-1),
            "Only the first and the last completion are compared.",
        ),
    ),
    others={"sets": lambda r: [len(set(row)) > 1 for row in np.asarray(r).tolist()]},
)
