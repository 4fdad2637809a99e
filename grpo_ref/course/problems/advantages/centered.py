"""Only take the mean off."""

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
from grpo_ref.kernels.advantages import group_centered


def _reference(rewards: Any) -> Any:
    return group_centered(np.asarray(rewards, dtype=float))


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (rng.integers(0, 3, (size + 1, size + 1)).astype(float) * rng.choice([0.1, 1.0, 10.0]),)


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
        "Dividing by the group's std makes a prompt that is nearly always solved, or nearly never, count more than its"
        " rewards say. Dr. GRPO leaves the division out."
    ),
    task="Write `centered_advantages(rewards)`:\n\n    Aᵢ = rᵢ - mean(r),    the mean over the completions of one prompt",
    inputs="rewards: (P, G), one row per prompt.",
    output="(P, G) advantages, in units of reward; each row sums to zero.",
    constraints="A group of one gets 0.",
    source='Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `scale_rewards="none"`.',
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
            why="the mean is 1/4",
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
        Drawn("Random rewards agree", _draw, why="several groups and scales"),
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
