"""On easy prompts everything is right, on hard ones everything is wrong."""

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
from grpo_ref.mistakes.toy_loop import RIGHT, normalized

_reference = on_bandits(RIGHT)
ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.75], [0.25, 0.25]]], 1.0)


def _mean_over_prompts(rewards: Any) -> Any:
    return rewards - rewards.mean(0)


def _rest_of_batch(rewards: Any) -> Any:
    others = (rewards.sum() - rewards.sum(-1, keepdims=True)) / max(rewards.size - rewards.shape[-1], 1)
    return rewards - others


PROBLEM = Problem(
    id="clinic/easy_and_hard",
    title="On easy prompts everything is right, on hard ones everything is wrong",
    function="train",
    reference=_reference,
    background=(
        "The patient: a training loop of bandits like that of `clinic/falling_reward`, on prompts of very different difficulty. On an easy prompt whatever was drawn becomes"
        " likelier, on a hard one whatever was drawn becomes rarer, right or wrong."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it. It shall do gradient ascent on the mean of A log π over all prompts"
        " and members, with A the reward minus the mean of its group."
    ),
    inputs="payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.\nuniforms: (U, P, G) numbers in [0, 1).\nlearning_rate: a number.",
    output="(P, V) the logits after U updates.",
    constraints="The fault is in one line; the rest is right.",
    source="found in more than one public GRPO repository.",
    hints=(
        "Give both members of a prompt the same reward. What should happen to its logits, and what does?",
        "Whose mean is the baseline?",
        "advantages = rewards - rewards.mean(-1, keepdims=True)",
    ),
    checks=(
        Case(
            "One update by hand",
            ONE,
            np.array([[0.125, -0.125], [0.0, 0.0]]),
            why="the first prompt has A = ±1/2, and weight 1/4 per member; the second pays 9 whatever is drawn and has nothing to learn",
            shown=True,
        ),
        Holds("It learns the best arms", learns_bandits, why="an easy and a hard prompt, 150 updates"),
        Unchanged((np.ones((2, 2, 2, 2)), np.full((2, 2, 2), 0.3))),
        Drawn("Random runs agree", draw_bandits, why="two prompts of different difficulty"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            on_bandits(replace(RIGHT, advantage=stages.batch_baseline)),
            "The baseline is still the mean of the whole batch.",
        ),
        Mutant(
            "over the prompts",
            on_bandits(replace(RIGHT, advantage=_mean_over_prompts)),
            "The mean runs over the prompts now, not over the members of one.",
        ),
        Mutant(
            "the rest of the batch",
            on_bandits(replace(RIGHT, advantage=_rest_of_batch)),
            "The baseline is the mean of the other prompts now.",
        ),
        Mutant(
            "no baseline",
            on_bandits(replace(RIGHT, advantage=raw_rewards)),
            "There is no baseline at all now.",
        ),
        Mutant(
            "std as well",
            on_bandits(replace(RIGHT, advantage=normalized)),
            "The advantages are not to be divided by the std here.",
        ),
        Mutant(
            "downhill",
            on_bandits(replace(RIGHT, direction=-1.0)),
            "The sign was right; it is turned over now.",
        ),
        Mutant(
            "sum for mean",
            on_bandits(replace(RIGHT, weight=token_sum)),
            "The mean over prompts and members was right; it is a sum now.",
        ),
    ),
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
)
