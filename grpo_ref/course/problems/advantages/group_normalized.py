"""Score each completion against its own group."""

from typing import Any

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.grading.domain.arguments import Real, Scalar
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
    {
        "rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one row per prompt"),
        "eps": Scalar(
            1e-4, (1e-8, 1), at=(1e-8, 1e-6, 1), meaning="keeps a group of equal rewards at 0 instead of 0/0"
        ),
    },
    sizes={"P": (1, 3), "G": (1, 5)},
    large={"P": 40, "G": 40},
)


def _reference(rewards: Any, eps: float = 1e-4) -> Any:
    return group_normalized(np.asarray(rewards, dtype=float), ddof=0, eps=eps)


def _shift(f: Function) -> str | None:
    rewards = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 0.0]])
    same = np.allclose(f(rewards, 1e-4), f(rewards + 3.0, 1e-4), atol=1e-9)
    return None if same else "3 more for every completion should change nothing"


def _mutant(mean: Any, std: Any, place: Any) -> Function:
    def wrong(rewards: Any, eps: float = 1e-4) -> Any:
        r = np.asarray(rewards, dtype=float)
        return (r - mean(r)) / place(std(r), eps)

    return wrong


def _mean(r: Any) -> Any:
    return r.mean(-1, keepdims=True)


def _std(r: Any) -> Any:
    return r.std(-1, keepdims=True)


def _add(std: Any, eps: float) -> Any:
    return std + eps


PROBLEM = Problem(
    id="advantages/group_normalized",
    title="Score each completion against its own group",
    function="group_advantages",
    reference=_reference,
    background=(
        "GRPO lets the policy answer the same prompt G times and gives each answer (each completion) a reward."
        " Was a reward of 0.6 good? That depends on the prompt: where the other answers got 0.1 it was, where they"
        " got 0.9 it was not. So GRPO compares a completion with the others of its prompt, which form its group."
        " The result is the advantage: positive for a completion that shall become more likely, negative for one"
        " that shall become less likely. Older methods train a second network to say what to expect; here the"
        " group says it."
    ),
    task=(
        "Write `group_advantages(rewards, eps=1e-4)`. It gives every completion the distance of its reward from"
        " the mean of its group, in units of the group's standard deviation:\n\n"
        "    Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)\n\n"
        "Mean and standard deviation run over the completions of one prompt. The standard deviation is the one of"
        " a population: it divides the sum of squares by G, not by G - 1. eps is added to it, so that a group in"
        " which all rewards are equal gets 0 and not 0/0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, G) advantages; each row sums to zero.",
    constraints="A group of one completion gets 0.",
    notes=(
        "Trainers differ in this line: TRL (eps 1e-4) and verl (eps 1e-6) divide by G - 1, Open Instruct (eps"
        " 1e-8) by G."
    ),
    kernel="grpo_ref.group_normalized",
    source="DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300); Open Instruct's `standard`.",
    hints=(
        "Which axis holds the completions of one prompt?",
        "keepdims=True lets the mean line up with the rewards again.",
        "(rewards - rewards.mean(-1, keepdims=True)) / (rewards.std(-1, keepdims=True) + eps)",
    ),
    checks=(
        Case(
            "One of two is right",
            ([[0, 1]],),
            np.array([[-1, 1]]) / 1.0002,
            why="The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.",
            shown=True,
        ),
        Case("Everyone agrees", ([[1, 1, 1]],), np.zeros((1, 3)), why="no contrast, no signal, and no 0/0"),
        Case(
            "Groups do not mix",
            ([[0, 1], [5, 5]],),
            np.array([[-1 / 1.0002, 1 / 1.0002], [0, 0]]),
            why="the mean is over G, not over P",
        ),
        Case(
            "One success among 65",
            ([[1.0] + [0.0] * 64],),
            np.array([[64.0] + [-1.0] * 64]) / (8.0 + 65e-4),
            why="mean 1/65, std 8/65: the success gets 64/65 over 8/65 + 1e-4, nearly 8, and nothing holds it back",
        ),
        Case("A group of one", ([[3.0]],), np.zeros((1, 1)), why="it is its own mean"),
        Case("eps counts", ([[0, 1]], 0.5), np.array([[-0.5, 0.5]]), why="0.5 / (0.5 + 0.5)"),
        Holds("Shifting all rewards changes nothing", _shift, why="only differences within a group count"),
        Unchanged((np.array([[0.0, 1.0], [2.0, 4.0]]),)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "sample standard deviation",
            lambda r, eps=1e-4: group_normalized(np.asarray(r, dtype=float), ddof=1, eps=eps),
            "This looks like the sample standard deviation, ddof=1; here the divisor is G.",
        ),
        Mutant(
            "whole batch as one group",
            _mutant(np.mean, np.std, _add),
            "Mean and std are taken over the whole batch; every prompt has its own.",
        ),
        Mutant("std of the batch", _mutant(_mean, np.std, _add), "The std is that of the whole batch."),
        Mutant("mean of the batch", _mutant(np.mean, _std, _add), "The mean is that of the whole batch."),
        Mutant(
            "over the prompts",
            _mutant(lambda r: r.mean(0, keepdims=True), lambda r: r.std(0, keepdims=True), _add),
            "Mean and std run over the prompts; they belong to the completions of one prompt.",
        ),
        Mutant(
            "eps left out", _mutant(_mean, _std, lambda s, e: s), "eps is not used: equal rewards give 0/0."
        ),
        Mutant(
            "eps under the root",
            _mutant(_mean, _std, lambda s, e: np.sqrt(s**2 + e)),
            "eps is added to the variance; it belongs to the standard deviation.",
        ),
        Mutant(
            "larger of std and eps", _mutant(_mean, _std, np.maximum), "eps is added, not used as a floor."
        ),
        Mutant("eps fixed", lambda r, eps=1e-4: _reference(r), "The argument eps is not used."),
        Mutant(
            "variance for std", _mutant(_mean, lambda r: _std(r) ** 2, _add), "It divides by the variance."
        ),
        Mutant(
            "not divided",
            lambda r, eps=1e-4: np.asarray(r) - _mean(np.asarray(r)),
            "It only centres the rewards.",
        ),
        Mutant(
            "median for mean",
            _mutant(lambda r: np.median(r, -1, keepdims=True), _std, _add),
            "It is the mean that is taken off.",
        ),
        Mutant("not centered", _mutant(lambda r: 0.0, _std, _add), "The mean is not taken off."),
    ),
    others={
        "loops over lists": lambda rewards, eps=1e-4: [
            [(x - sum(row) / len(row)) / (np.std(row) + eps) for x in row]
            for row in np.asarray(rewards).tolist()
        ],
    },
)
