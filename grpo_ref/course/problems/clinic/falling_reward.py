"""The reward falls from the first update on."""

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
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.toy_loop import RIGHT

_reference = on_bandits(RIGHT)
ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0)

PROBLEM = Problem(
    id="clinic/falling_reward",
    title="The reward falls from the first update on",
    function="train",
    reference=_reference,
    background=(
        "The patient: a training loop for a table of bandits, one row of logits per prompt. Its reward curve starts in the middle and"
        " falls to the worst arm's payoff, as smoothly as others rise."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it. It shall do gradient ascent on the mean of A log π over all prompts"
        " and members, with A the reward minus the mean of its group."
    ),
    inputs="payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.\nuniforms: (U, P, G) numbers in [0, 1).\nlearning_rate: a number.",
    output="(P, V) the logits after U updates.",
    constraints="The fault is in one line; the rest is right.",
    source="the most frequent of all, and quickly found.",
    hints=(
        "Take one prompt, two arms, one update, and follow the numbers by hand. Which logit should rise?",
        "A loss is minimized, an objective is maximized. `gradient` is the derivative of which?",
        "logits += learning_rate * gradient",
    ),
    checks=(
        Case(
            "One update by hand",
            ONE,
            np.array([[0.25, -0.25]]),
            why="arms 0 and 1 are drawn, A = ±1/2; the mean of A (one-hot - 1/2) is 1/2 (1/2 · 1/2 + 1/2 · 1/2)",
            shown=True,
        ),
        Holds("It learns the best arms", learns_bandits, why="two prompts, 150 updates"),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        Drawn("Random runs agree", draw_bandits, why="two prompts, a few updates"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(on_bandits(replace(RIGHT, direction=-1.0)), "It still goes downhill."),
        Mutant(
            "baseline dropped",
            on_bandits(replace(RIGHT, advantage=raw_rewards)),
            "The baseline was right; it is gone now.",
        ),
        Mutant(
            "baseline of the batch",
            on_bandits(replace(RIGHT, advantage=stages.batch_baseline)),
            "The baseline was that of each group, and right.",
        ),
        Mutant(
            "advantages turned over twice",
            on_bandits(replace(RIGHT, direction=-1.0, advantage=raw_rewards)),
            "Now the baseline is gone, and it still goes downhill.",
        ),
        Mutant(
            "sum for mean",
            on_bandits(replace(RIGHT, weight=token_sum)),
            "The mean over prompts and members was right; it is a sum now.",
        ),
        Mutant(
            "learning rate fixed",
            lambda p, u, learning_rate=2.0: _reference(p, u, 2.0),
            "The learning rate is not used.",
        ),
    ),
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
)
