"""On easy prompts everything is right, on hard ones everything is wrong."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, normalized
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.problems.bandits import A_BANDIT, BANDITS, RULES, learns_bandits, on_bandits

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
        f"{A_BANDIT} The patient below trains on prompts of very different difficulty: an easy one pays 8 to 10"
        " whatever is drawn, a hard one 0 or 1. After one update everything that was drawn on the easy prompt has"
        " become likelier and everything that was drawn on the hard one rarer, right or wrong. In the example"
        " below the second prompt pays 9 for every arm, so there is nothing to learn on it; its logits move all the"
        " same, by 1.06."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it: one line is wrong, the"
        f" rest is right. {RULES}"
    ),
    inputs=BANDITS.inputs,
    domain=BANDITS,
    output="(P, V) the logits after U updates.",
    constraints=(
        "A group of one has advantage 0 and moves nothing; so does a group in which all rewards are equal.\n"
        "With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with"
        " probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9."
    ),
    notes=(
        "With one prompt in the batch the fault cannot be seen. In a trainer it comes in with a reshape: rewards of"
        " shape (P G,) whose mean is taken before they are brought into groups."
    ),
    source="DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300): the baseline is the mean of the group.",
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
            why="Both arms of the first prompt are drawn once and pay 1 and 0, so A = 1/2 and -1/2. The two draws"
            " add 1/2 · [1/2, -1/2] and -1/2 · [-1/2, 1/2], each with weight 1/4: [1/8, -1/8]. The second prompt"
            " pays 9 to both members: A = 0 for both, and nothing moves.",
            shown=True,
        ),
        Case(
            "A number on the edge",
            ([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.5], [0.25, 0.25]]], 1.0),
            np.array([[0.125, -0.125], [0.0, 0.0]]),
            why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
        ),
        Holds("It learns the best arms", learns_bandits, why="an easy and a hard prompt, 150 updates"),
        Unchanged((np.ones((2, 2, 2, 2)), np.full((2, 2, 2), 0.3))),
        FromDomain(),
        *found_cases(__file__),
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
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
)
