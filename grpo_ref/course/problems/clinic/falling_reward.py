"""The reward falls from the first update on."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
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
ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0)

PROBLEM = Problem(
    id="clinic/falling_reward",
    title="The reward falls from the first update on",
    function="train",
    reference=_reference,
    background=(
        f"{A_BANDIT} The patient below is such a training loop. Each of its two prompts offers four arms, and an"
        " arm drawn blindly pays 0.44 on average. The reward starts there and falls: to 0.33 after 20 updates of"
        " groups of 16, to 0.26 after 100, close to what the worst arms pay. It falls as smoothly as healthy"
        " curves rise, and that is a sign: nothing is random about this fault."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it: one line is wrong, the"
        f" rest is right. {RULES}"
    ),
    inputs=BANDITS.inputs,
    domain=BANDITS,
    output="(P, V) the logits after U updates.",
    constraints=(
        "A group of one has advantage 0 and moves nothing.\n"
        "With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with"
        " probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9."
    ),
    notes=(
        "In a trainer the same fault is a loss whose minus is missing, or a minus too many: an optimizer goes"
        ' downhill on what it is given, so it has to be given -J. For the log of a trainer, see "The reward falls" in'
        " docs/howto/symptoms.md: `grpo-ref diagnose` compares the logged loss with the advantages."
    ),
    source="Williams 1992, REINFORCE, with the mean of the group for a baseline.",
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
            why="Both arms have probability 1/2; 0.25 draws arm 0, which pays 1, and 0.75 draws arm 1, which pays 0."
            " The mean reward is 1/2, so A = 1/2 and -1/2. The first draw adds 1/2 · [1/2, -1/2], the second"
            " -1/2 · [-1/2, 1/2], and the mean of both is [1/4, -1/4].",
            shown=True,
        ),
        Case(
            "A number on the edge",
            ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0),
            np.array([[0.25, -0.25]]),
            why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
        ),
        Holds("It learns the best arms", learns_bandits, why="two prompts, 150 updates"),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            on_bandits(replace(RIGHT, direction=-1.0)),
            "It still goes downhill: the step is taken against the gradient of J.",
        ),
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
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
)
