"""The clip fraction is zero, whatever you do."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop
from grpo_ref.course.grading.domain.arguments import Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.problems.bandits import (
    A_BANDIT,
    LEARNING_RATE,
    ONE_STEP_WITHOUT_A_CLIP,
    PAYOFFS,
    SIZES,
    UNIFORMS,
    on_bandits,
)

DOMAIN = Domain(
    {
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 4), at=(1, 4)),
        "steps": Whole((1, 5), default=4, meaning="how often each batch is used"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="how far the ratio may go from 1"
        ),
    },
    sizes={**SIZES, "U": (1, 3)},
    rules=(ONE_STEP_WITHOUT_A_CLIP,),
)


def _of(loop: ToyLoop, **fixed: Any) -> Function:
    def train(
        payoffs: Any, uniforms: Any, learning_rate: float = 2.0, steps: int = 4, clip: float = 0.2
    ) -> Any:
        settings = {"epochs": steps, "clip": clip} | fixed
        return on_bandits(loop, **settings)(payoffs, uniforms, learning_rate)

    return train


_reference = _of(RIGHT)


def _unless(is_clipped: Any) -> Any:
    """Return the slope r A, set to 0 where the condition on (r, A, clip) is true."""

    def slope(log_ratio: Any, advantages: Any, clip: float) -> Any:
        ratio = np.exp(log_ratio)
        return np.where(is_clipped(ratio, advantages, clip), 0.0, ratio * advantages)

    return slope


ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)

PROBLEM = Problem(
    id="clinic/idle_clip",
    title="The clip fraction is zero, whatever you do",
    function="train",
    reference=_reference,
    background=(
        f"{A_BANDIT} The patient below uses each batch for several steps, as trainers do because drawing is"
        " expensive. From the second step on the policy π is no longer the policy πold that drew the batch. The"
        " ratio r = π / πold of the arm's probabilities says how far it has gone, and the clip takes away the slope"
        " of an arm that has gone far enough. In this patient it never does: one batch of 16, eight steps and"
        " learning_rate 8 bring an arm from 0.25 to 0.81, where a healthy run leaves all arms between 0.18 and"
        " 0.31, and the share of clipped arms that it reports is exactly 0 in every step."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)` below and mend it: one"
        " line is wrong or in the wrong place, the rest is right. The program shall do the following. The logits"
        " are zeros at first. In each of the U updates\n\n"
        "1. πold is the softmax of each row of logits. Every member g of the group of prompt p draws an arm: the"
        " first one whose cumulative probability πold(0) + ... + πold(arm) is larger than its number in"
        " `uniforms`\n"
        "2. its reward is `payoffs[update, p, g, arm]`, and its advantage A is this reward minus the mean reward"
        " of its group, the G members of the same prompt\n"
        "3. `steps` times, the logits take one step uphill on\n\n"
        "    J = 1/(P G) Σ min(r A, clip(r, 1 - clip, 1 + clip) A),    r = π(arm) / πold(arm)\n\n"
        "with π the softmax of the logits of that moment; πold and A stay the same for all steps on a batch. An arm"
        " has no slope where A > 0 and r > 1 + clip, and none where A < 0 and r < 1 - clip. Everywhere else, on the"
        " bound itself too, the slope of its term with respect to log π(arm) is r A, and the gradient of log π(arm)"
        " with respect to the logits of its prompt is the one-hot vector of the arm minus π."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, V) the logits after U updates.",
    constraints=(
        "In the first step on a batch r is exactly 1, so a batch moves the policy even where clip is 0."
    ),
    notes=(
        "A clip fraction of exactly 0 is right in one case: with one step per batch. TRL then leaves πold out and"
        ' takes the policy itself, detached. TRL logs it as clip_ratio/region_mean, verl as actor/pg_clipfrac: see "The'
        ' clip ratio is 0" in docs/howto/symptoms.md. `grpo-ref diagnose LOG CONFIG` says whether it is right.'
    ),
    source="Schulman et al. 2017, PPO, eq. 7 (arXiv:1707.06347).",
    hints=(
        "Print the ratio in the second step on a batch. What should it be, and what is it?",
        "When was the batch drawn, and when is `old` computed?",
        "Move `old = np.log(...)` out of the inner loop, to where the arms are drawn.",
    ),
    checks=(
        Case(
            "Two steps by hand, the second one clipped",
            ONE,
            np.array([[1.0, -1.0]]),
            why="Both arms are drawn once and pay 1 and 0, so A = 1/2 and -1/2. In the first step r = 1 and the"
            " gradient is [1/4, -1/4]; times 4 that gives logits [1, -1]. Now π is 0.88 and 0.12, the ratios are"
            " 1.76 and 0.24: the good arm is above 1.2, the bad one below 0.8, and the second step adds nothing.",
            shown=True,
        ),
        Case(
            "One step is always on policy",
            ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 1, 0.2),
            np.array([[0.25, -0.25]]),
            why="the ratio is 1",
        ),
        Case(
            "A number on the edge",
            ([[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 1, 0.2),
            np.array([[0.25, -0.25]]),
            why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
        ),
        Case(
            "On the bound itself",
            (*ONE[:3], 1, 0.0),
            np.array([[1.0, -1.0]]),
            why="with clip 0 the first step is on both bounds, and it is taken",
        ),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            _of(replace(RIGHT, old=lambda then, now: now)),
            "The ratio is still 1 in every step: `old` comes from the policy of that very step, or is not used.",
        ),
        Mutant(
            "clip taken away",
            _of(replace(RIGHT, slope=stages.never_clipped)),
            "The clip was right; it is gone now.",
        ),
        Mutant(
            "clipped on both sides",
            _of(replace(RIGHT, slope=_unless(lambda r, a, clip: abs(r - 1.0) > clip))),
            "A ratio outside the band still has a slope if the advantage calls it back.",
        ),
        Mutant(
            "clipped above only",
            _of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a > 0) & (r > 1.0 + clip)))),
            "The lower bound was right; it is gone now.",
        ),
        Mutant(
            "clipped below only",
            _of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a < 0) & (r < 1.0 - clip)))),
            "The upper bound was right; it is gone now.",
        ),
        Mutant(
            "clipped on the bound",
            _of(replace(RIGHT, slope=_unless(lambda r, a, clip: np.sign(a) * (r - 1.0) >= clip))),
            "On the bound itself the slope is r A.",
        ),
        Mutant("one step", _of(RIGHT, epochs=1), "Each batch is to be used `steps` times."),
        Mutant("clip fixed", _of(RIGHT, clip=0.2), "The argument clip is not used."),
        Mutant("downhill", _of(replace(RIGHT, direction=-1.0)), "The sign was right; it is turned over now."),
        Mutant(
            "no baseline",
            _of(replace(RIGHT, advantage=raw_rewards)),
            "The baseline was right; it is gone now.",
        ),
    ),
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
    rtol=1e-8,
)
