"""Only take the mean off."""

from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import GROUPS
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

DOMAIN = Domain(
    {"rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt, a group in each")},
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def _reference(rewards: Any) -> Any:
    return group_centered(np.asarray(rewards, dtype=float))


def _of(formula: Any) -> Function:
    return lambda rewards: formula(np.asarray(rewards, dtype=float))


def _scale(f: Function) -> str | None:
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.5]])
    kept = np.allclose(np.asarray(f(3.0 * rewards)), 3.0 * np.asarray(f(rewards)), atol=1e-9)
    return None if kept else "three times the rewards should give three times the advantages"


PROBLEM = Problem(
    id="advantages/centered",
    title="Only take the mean off",
    function="centered_advantages",
    reference=_reference,
    background=(
        "GRPO lets the policy, the language model in training, answer the same prompt G times and gives"
        " each answer (each completion) a reward. What counts is the advantage: how much better a completion"
        " did than the others of its prompt, its group. GRPO measures this distance in units of the group's"
        " standard deviation. On a prompt that is nearly always solved, or nearly never, this deviation is"
        " small, and dividing by it makes the one odd completion count very much: the policy is then pulled"
        " most by the prompts that tell least. Dr. GRPO leaves the division out."
    ),
    task=(
        "Write `centered_advantages(rewards)`. It takes off the mean of the group, and nothing else:\n\n"
        "    Aᵢ = rᵢ - mean(r)\n\n"
        "The mean runs over the G completions of one prompt, the completion itself among them."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G) advantages, in units of reward; each row sums to zero.",
    constraints=("A group of one completion gets 0, and so does a group in which all rewards are equal."),
    notes=(
        'TRL does this with `scale_rewards="none"`, Open Instruct by default (`centered`), and verl with'
        " `norm_adv_by_std_in_grpo=False`."
    ),
    kernel="grpo_ref.group_centered",
    source="Liu et al. 2025, Dr. GRPO, sec. 3 (arXiv:2503.20783).",
    hints=(
        "What is the mean of one row, and how does it line up with the row again?",
        "rewards.mean(-1) has shape (P,); with keepdims=True it has shape (P, 1).",
        "rewards - rewards.mean(-1, keepdims=True)",
    ),
    checks=(
        Case(
            "One of four is right",
            ([[1, 0, 0, 0]],),
            np.array([[0.75, -0.25, -0.25, -0.25]]),
            why="The mean is 1/4: 1 - 1/4, and three times 0 - 1/4.",
            shown=True,
        ),
        Case("Groups do not mix", ([[0, 2], [5, 5]],), np.array([[-1.0, 1.0], [0, 0]]), why="means 1 and 5"),
        Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="it is its own mean"),
        Case(
            "A lonely winner",
            ([[0, 0, 3]],),
            np.array([[-1.0, -1.0, 2.0]]),
            why="the mean is 1, the median 0",
        ),
        Holds("The scale is kept", _scale, why="nothing is divided by"),
        Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "divided by the std",
            _of(lambda r: (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True) + 1e-4)),
            "This divides by the std as GRPO does; Dr. GRPO does not.",
        ),
        Mutant("mean of the batch", _of(lambda r: r - r.mean()), "The mean is that of the whole batch."),
        Mutant(
            "over the prompts",
            _of(lambda r: r - r.mean(0)),
            "The mean runs over the prompts, not over the completions of one.",
        ),
        Mutant(
            "median", _of(lambda r: r - np.median(r, -1, keepdims=True)), "It is the mean that is taken off."
        ),
        Mutant(
            "best",
            _of(lambda r: r - r.max(-1, keepdims=True)),
            "The best reward is taken off instead of the mean.",
        ),
        Mutant(
            "leave one out",
            _of(lambda r: (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)),
            "This is the mean of the others (RLOO); here each completion counts in its own mean.",
        ),
        Mutant("turned over", _of(lambda r: r.mean(-1, keepdims=True) - r), "The sign is turned over."),
        Mutant("not centered", _of(lambda r: r), "Nothing is taken off."),
    ),
    others={
        "lists": lambda rewards: [
            [x - sum(row) / len(row) for x in row] for row in np.asarray(rewards).tolist()
        ]
    },
)
