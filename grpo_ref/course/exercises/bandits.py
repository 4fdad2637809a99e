"""Shared parts of the exercises with a table of bandits.

These are the toy loop as their function, the allowed inputs, the rules of their statements, and a proof that
the loop learns.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.mistakes.toy_loop import ToyLoop
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.domain.rows import CONSTANT, IN_ORDER, LEVELS, MIXED, SOME_CONSTANT, Pattern
from grpo_ref.course.grading.domain.source import Source
from grpo_ref.learning.policies.table import policy_of


def _some_groups_equal(source: Source, values: Floats) -> Floats:
    """Make all payoffs equal in some groups, as in an update without a gradient."""
    chosen = source.flags((*values.shape[:2], 1, 1))
    return np.where(chosen, values[:, :, :1, :1], values)


def _at_both_ends(source: Source, values: Floats) -> Floats:
    """Make every payoff the largest or the smallest possible one. The caller clips them to the range."""
    return np.where(source.flags(values.shape), np.inf, -np.inf)


PAYOFFS = Real(
    "U P G V",
    (-20, 20),
    usual=((0, 1), (-3, 3)),
    rows=(
        MIXED,
        LEVELS,
        CONSTANT,
        SOME_CONSTANT,
        IN_ORDER,
        Pattern("equal within some groups", _some_groups_equal),
        Pattern("at both ends", _at_both_ends),
    ),
    meaning="what arm v would pay to member g of prompt p in update u",
)
UNIFORMS = Real(
    "U P G", (0, 0.999), at=(0, 0.25, 0.5, 0.75), whole=False, meaning="random numbers, one for each draw"
)
LEARNING_RATE = Scalar(2.0, (0.01, 5), usual=((0.1, 3),), at=(0.01, 1, 5), meaning="length of a step")
ONE_STEP_WITHOUT_A_CLIP = Rule(
    "Where clip is 0, steps is 1: in later steps rounding would decide which side of the bound a ratio is on.",
    lambda values: values["clip"] > 0 or values["steps"] == 1,
)
SIZES = {"U": (1, 4), "P": (1, 3), "G": (1, 5), "V": (2, 4)}
LARGE = {"U": 12, "P": 12, "G": 40}

BANDITS = Domain(
    {"payoffs": PAYOFFS, "uniforms": UNIFORMS, "learning_rate": LEARNING_RATE}, sizes=SIZES, large=LARGE
)
"""Domain of the loops whose only arguments are payoffs, uniforms and a learning rate."""

A_BANDIT = (
    "A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one of"
    " them and is paid for it. The policy is a table with one row of numbers, the logits, for each prompt; the"
    " softmax of a row gives the probability of each arm."
)
RULES = (
    "The program shall do the following. The logits are zeros at first. In each of the U updates\n\n"
    "1. π is the softmax of each row of logits. Every member g of the group of prompt p draws an arm: the first"
    " one whose cumulative probability π(0) + ... + π(arm) is larger than its number in `uniforms`\n"
    "2. its reward r is what this arm pays to it in this update, `payoffs[update, p, g, arm]`\n"
    "3. its advantage A is r minus the mean reward of its group, the G members of the same prompt\n"
    "4. the logits take one step uphill on the mean of A log π over all prompts and members, with A held"
    " constant:\n\n"
    "    logits += learning_rate · ∂J/∂logits,    J = 1/(P G) Σ A log π(arm)\n\n"
    "A draw moves only the row of its prompt, where the gradient of log π(arm) is the one-hot vector of the arm"
    " minus π."
)


def on_bandits(loop: ToyLoop, **settings: Any) -> Callable[..., Any]:
    """Return the loop as a function (payoffs (U, P, G, V), uniforms (U, P, G), learning_rate) -> logits (P,
    V).
    """

    def train(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        start = np.zeros((payoffs.shape[1], payoffs.shape[-1]))
        return loop(start, verify, uniforms[..., None], learning_rate, **settings)

    return train


def learns_bandits(train: Callable[..., Any]) -> str | None:
    """Return None if both prompts' best arms have probability above 0.9 after 150 updates."""
    rng = np.random.default_rng(0)
    means = np.array([[0.1, 0.5, 0.2, 0.3], [0.9, 0.4, 0.6, 0.5]])
    payoffs = (rng.random((150, 2, 16, 4)) < means[:, None]).astype(float)
    probs = policy_of(np.asarray(train(payoffs, rng.random((150, 2, 16)), 4.0), dtype=float)).probs
    worst = probs[np.arange(2), means.argmax(-1)].min()
    if worst > 0.9:
        return None
    return f"after 150 updates the best arms should have probability 0.9, one has {worst:.2f}"
