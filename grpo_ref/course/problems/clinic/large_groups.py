"""The larger the group, the less it learns."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.problems.bandits import draw_bandits, learns_bandits, on_bandits
from grpo_ref.kernels.advantages import raw_rewards
from grpo_ref.kernels.aggregation import token_sum
from grpo_ref.learning.policies.table import scatter_add
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.toy_loop import RIGHT

_reference = on_bandits(RIGHT)
ONE: tuple[Any, ...] = ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)


def _everything_lost(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """The whole step by fancy assignment: of each row, the last visit counts."""
    table = np.zeros_like(probs)
    table[states] += gradient[..., None] * (np.eye(probs.shape[-1])[tokens] - probs[states])
    return table


def _divided_by_visits(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    summed = RIGHT.back(gradient, states, tokens, probs)
    visits = scatter_add(np.ones_like(gradient), states, tokens, probs.shape)
    return summed / np.maximum(visits, 1.0)


PROBLEM = Problem(
    id="clinic/large_groups",
    title="The larger the group, the less it learns",
    function="train",
    reference=_reference,
    background=(
        "The patient: a training loop without the slow loops. Somebody replaced them with indexing, and since then a group of 64"
        " moves the logits less than a group of 2."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it. It shall do gradient ascent on the mean of A log π over all prompts"
        " and members, with A the reward minus the mean of its group."
    ),
    inputs="payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.\nuniforms: (U, P, G) numbers in [0, 1).\nlearning_rate: a number.",
    output="(P, V) the logits after U updates.",
    constraints="The fault is in one line; the rest is right.",
    source="a classic of vectorised code.",
    hints=(
        "Two members draw the same arm. How often is its logit moved?",
        "`a[index] += x` reads, adds and writes; an index that comes twice is written twice with one sum.",
        "np.add.at(gradient, rows, step)",
    ),
    checks=(
        Case(
            "One update by hand",
            ONE,
            np.array([[2 / 3, -2 / 3]]),
            why="arms 0, 0 and 1 get 3, 3 and 0, A = 1, 1, -2; (1/2 + 1/2 + 1) / 3",
            shown=True,
        ),
        Holds("It learns the best arms", learns_bandits, why="groups of 16, 150 updates"),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        Drawn("Random runs agree", draw_bandits, why="arms that come back"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            on_bandits(replace(RIGHT, back=_everything_lost)),
            "Only the last member of each prompt still counts.",
        ),
        Mutant(
            "half mended",
            on_bandits(replace(RIGHT, back=stages.repeats_lost)),
            "The chosen arms are still written once each.",
        ),
        Mutant(
            "divided by the visits",
            on_bandits(replace(RIGHT, back=_divided_by_visits)),
            "The visits are to be added, not averaged.",
        ),
        Mutant(
            "sum for mean",
            on_bandits(replace(RIGHT, weight=token_sum)),
            "The mean over prompts and members was right; it is a sum now.",
        ),
        Mutant(
            "downhill",
            on_bandits(replace(RIGHT, direction=-1.0)),
            "The sign was right; it is turned over now.",
        ),
        Mutant(
            "no baseline",
            on_bandits(replace(RIGHT, advantage=raw_rewards)),
            "The baseline was right; it is gone now.",
        ),
    ),
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
)
