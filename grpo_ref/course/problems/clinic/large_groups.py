"""The larger the group, the less it learns."""

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
from grpo_ref.learning.policies.table import scatter_add

_reference = on_bandits(RIGHT)
ONE: tuple[Any, ...] = ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)


def _everything_lost(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """Add the whole step by an index assignment, which counts only the last visit of each row."""
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
        f"{A_BANDIT} The patient below has no slow loops any more: somebody replaced them with indexing, and since"
        " then large groups learn less than small ones. One update on a prompt with two arms, which pay with"
        " probabilities 0.2 and 0.8, moves the logits by 0.11 with a group of 2, by 0.05 with a group of 8 and by"
        " 0.01 with a group of 64; in a healthy run it is 0.13, 0.29 and 0.29. A larger group should give a better"
        " measurement of the same step, not a smaller step."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it: one line is wrong, the"
        f" rest is right. {RULES}"
    ),
    inputs=BANDITS.inputs,
    domain=BANDITS,
    output="(P, V) the logits after U updates.",
    constraints=(
        "An arm that several members draw collects the gradients of all of them.\n"
        "With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with"
        " probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9."
    ),
    notes=(
        "PyTorch has the same trap: `gradient[rows] += step` against"
        " `gradient.index_put_((rows,), step, accumulate=True)` or `index_add_`."
    ),
    source="NumPy's documentation of `ufunc.at`.",
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
            why="Arms 0, 0 and 1 are drawn and pay 3, 3 and 0; the mean is 2, so A = 1, 1 and -2. The first two draws"
            " add [1/2, -1/2] each, the third adds -2 · [-1/2, 1/2] = [1, -1]; a third of the sum [2, -2] is the"
            " step.",
            shown=True,
        ),
        Case(
            "A number on the edge",
            ([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.5]]], 1.0),
            np.array([[2 / 3, -2 / 3]]),
            why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
        ),
        Holds("It learns the best arms", learns_bandits, why="groups of 16, 150 updates"),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        FromDomain(),
        *found_cases(__file__),
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
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
)
