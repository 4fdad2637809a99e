"""The baseline of RLOO: what did the others get?"""

from typing import Any

import numpy as np

from grpo_ref.advantages import leave_one_out
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import GROUPS
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {"rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt, a group in each")},
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def _reference(rewards: Any) -> Any:
    return leave_one_out(np.asarray(rewards, dtype=float))


def _centered(rewards: Any) -> Any:
    r = np.asarray(rewards, dtype=float)
    return r - r.mean(-1, keepdims=True)


PROBLEM = Problem(
    id="advantages/leave_one_out",
    title="What did the others get?",
    function="leave_one_out",
    reference=_reference,
    background=(
        "GRPO lets the policy, the language model in training, answer the same prompt G times. Each answer"
        " (each completion) gets a reward, and the completions of one prompt form a group. How good a reward"
        " is depends on the prompt, so it is compared with a baseline, what was to be expected there. The"
        " mean of the group is such a baseline, but the completion has a part in it: a good one raises the"
        " very bar that it is measured by, and so every advantage comes out too small. RLOO (leave one out)"
        " asks only what the others got."
    ),
    task=(
        "Write `leave_one_out(rewards)`: each reward minus the mean of the other rewards of its group.\n\n"
        "    Aᵢ = rᵢ - 1/(G - 1) Σ_{j≠i} rⱼ\n\n"
        "The sum runs over the G - 1 other completions of the same prompt."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G) advantages, in units of reward; each row sums to zero.",
    constraints=("A group of one completion has no others: its advantage is 0."),
    notes=(
        "It is G/(G - 1) times the centered reward. verl's `rloo` keeps the reward itself for a group of one, its"
        " `rloo_vectorized` gives 0 as here."
    ),
    kernel="grpo_ref.leave_one_out",
    source="Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl `compute_rloo_vectorized_outcome_advantage`.",
    hints=(
        "The sum of the others is the sum of all minus your own.",
        "Divide by G - 1, and think of G = 1 before you do.",
        "r - (r.sum(-1, keepdims=True) - r) / (G - 1)",
    ),
    checks=(
        Case(
            "One of three",
            ([[1, 0, 0]],),
            np.array([[1.0, -0.5, -0.5]]),
            why="The others of the first got 0 and 0: 1 - 0. The others of the second got 1 and 0: 0 - 1/2; the same for the third.",
            shown=True,
        ),
        Case("Everyone agrees", ([[2, 2, 2]],), np.zeros((1, 3)), why="each is worth what the others are"),
        Case(
            "Two of a kind", ([[3, 1]],), np.array([[2.0, -2.0]]), why="with two, the other is the baseline"
        ),
        Case("A group of one", ([[5.0], [1.0]],), np.zeros((2, 1)), why="no others, no signal, and no 0/0"),
        Case(
            "Groups do not mix", ([[1, 0], [7, 7]],), np.array([[1.0, -1.0], [0, 0]]), why="the sum is over G"
        ),
        Unchanged((np.array([[1.0, 0.0, 0.0]]),)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "own reward included",
            _centered,
            "The mean includes the completion's own reward: this is plain centring.",
        ),
        Mutant(
            "divided by G",
            lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / np.shape(r)[-1],
            "The sum of the others is divided by G; there are G - 1 of them.",
        ),
        Mutant(
            "0/0 for a group of one",
            lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / (np.float64(np.shape(r)[-1]) - 1),
            "A group of one divides by zero.",
        ),
        Mutant(
            "own reward for a group of one",
            lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / max(np.shape(r)[-1] - 1, 1),
            "A group of one keeps its reward here; it should get 0.",
        ),
        Mutant(
            "scaled the wrong way",
            lambda r: _centered(r) * (np.shape(r)[-1] - 1) / np.shape(r)[-1],
            "G and G - 1 are swapped.",
        ),
        Mutant(
            "negated",
            lambda r: -_reference(r),
            "The sign is turned over: better than the others is positive.",
        ),
        Mutant(
            "over the whole batch",
            lambda r: _reference(np.ravel(r)[None]).reshape(np.shape(r)),
            "The others are those of the same prompt, not of the whole batch.",
        ),
        Mutant(
            "over the prompts", lambda r: _reference(np.asarray(r).T).T, "The others are in the same row."
        ),
        Mutant(
            "divided by the std",
            lambda r: _reference(r) / (np.std(r, -1, keepdims=True) + 1e-8),
            "RLOO does not divide by the standard deviation.",
        ),
    ),
    others={
        "a loop with np.delete": lambda r: np.array(
            [
                [x - np.delete(row, i).mean() if len(row) > 1 else 0.0 for i, x in enumerate(row)]
                for row in np.asarray(r, float)
            ]
        ),
    },
)
