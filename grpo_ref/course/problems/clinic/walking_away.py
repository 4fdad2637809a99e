"""It walks away on its leash."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import CONSTANT, LEVELS, MIXED
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
from grpo_ref.course.problems.bandits import A_BANDIT, LEARNING_RATE, PAYOFFS, SIZES, UNIFORMS

DOMAIN = Domain(
    {
        "start": Real("P V", (-5, 5), rows=(MIXED, CONSTANT, LEVELS), meaning="logits to begin with"),
        "payoffs": replace(PAYOFFS, within=(-5, 5)),
        "uniforms": UNIFORMS,
        "learning_rate": replace(LEARNING_RATE, within=(0.01, 3), at=(1, 3)),
        "kl_coef": Scalar(0.1, (0, 2), at=(0, 1), meaning="weight of the penalty"),
    },
    sizes=SIZES,
    large={"U": 24, "P": 12, "G": 40},
)


def _of(loop: ToyLoop, scale: float = 1.0) -> Function:
    def train(
        start: Any, payoffs: Any, uniforms: Any, learning_rate: float = 2.0, kl_coef: float = 0.1
    ) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        return loop(start, verify, uniforms[..., None], learning_rate, kl_coef=scale * kl_coef)

    return train


_reference = _of(RIGHT)


NOTHING_TO_GAIN = ([[0.0, 0.0]], np.zeros((2, 1, 2, 2)), np.full((2, 1, 2), 0.25), 1.0, 1.0)

PROBLEM = Problem(
    id="clinic/walking_away",
    title="It walks away on its leash",
    function="train",
    reference=_reference,
    background=(
        f"{A_BANDIT} The patient below has a leash: a penalty that shall keep the policy near the reference, the"
        " policy that it started with. It does not hold. Trained for 100 updates on four arms, of which the best"
        " pays 1 with probability 0.5, the policy takes this arm with probability 0.985, and it does so whether"
        " kl_coef is 0, 0.1 or 1; in a healthy run that is 0.985, 0.71 and 0.33. The distance from the reference"
        " that the patient reports is exactly 0 in every update."
    ),
    task=(
        "Find the fault in `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)` below and mend it: one"
        " line is wrong, the rest is right. The program shall do the following. The logits are `start` at first,"
        " and the reference πref is the softmax of `start` from beginning to end. In each of the U updates\n\n"
        "1. π is the softmax of each row of logits. Every member g of the group of prompt p draws an arm: the first"
        " one whose cumulative probability π(0) + ... + π(arm) is larger than its number in `uniforms`\n"
        "2. its reward is `payoffs[update, p, g, arm]`, and its advantage A is this reward minus the mean reward"
        " of its group, the G members of the same prompt\n"
        "3. the logits take one step uphill, logits += learning_rate · ∂J/∂logits, with A held constant, on\n\n"
        "    J = 1/(P G) Σ [A log π(arm) - kl_coef (e⁻ᵛ - 1 + v)],    v = log π(arm) - log πref(arm)\n\n"
        "The slope of one term with respect to log π(arm) is A - kl_coef (1 - πref(arm) / π(arm)), and the"
        " gradient of log π(arm) with respect to the logits of its prompt is the one-hot vector of the arm minus π."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(P, V) the logits after U updates.",
    constraints="`start` itself must be left as it was.",
    notes=(
        "In PyTorch the same fault is `reference = model` in place of a deep copy, or a reference kept as"
        " parameters that share their storage with the model's. In a log the KL to the reference is then exactly 0:"
        " `grpo-ref diagnose LOG CONFIG` tests this, see docs/howto/symptoms.md."
    ),
    source="Schulman 2020, Approximating KL divergence: the penalty is his k3.",
    hints=(
        "After the first update, print `reference - logits`.",
        "`reference = logits` makes no copy: both names mean the same array, and `logits += ...` changes it in place.",
        "reference = logits.copy()",
    ),
    checks=(
        Case(
            "One update by hand",
            ([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 0.5),
            np.array([[0.25, -0.25]]),
            why="at the start v = 0 and the penalty has no slope yet",
        ),
        Case(
            "The leash pulls back",
            (
                [[0.0, 0.0]],
                [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]]],
                [[[0.25, 0.75]], [[0.1, 0.1]]],
                4.0 * np.log(3.0) / 2.0,
                1.0,
            ),
            np.array([[0.5, -0.5]]) * np.log(3.0)
            - 2.0 * np.log(3.0) * (1.0 - 2.0 / 3.0) * np.array([[0.25, -0.25]]),
            why="In the first update the arms are drawn once each and pay 1 and 0; the penalty has no slope yet, and"
            " the step is 2.197 · [1/4, -1/4] = [0.549, -0.549]. Now π is 3/4 and 1/4. In the second update both"
            " draw arm 0 and nothing is paid: A = 0, and the slope of the penalty is 1 - (1/2)/(3/4) = 1/3 for both."
            " That takes 2.197 · 1/3 · [1/4, -1/4] = [0.183, -0.183] back.",
            shown=True,
        ),
        Case(
            "A number on the edge",
            ([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.5]]], 1.0, 0.5),
            np.array([[0.25, -0.25]]),
            why="arm 0 has a cumulative probability of 1/2, which is not larger than 1/2: arm 1 is drawn",
        ),
        Case("Nothing to gain", NOTHING_TO_GAIN, np.zeros((1, 2)), why="at the reference nothing pulls"),
        Unchanged((np.array([[0.5, -0.5]]), np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            _of(replace(RIGHT, reference=lambda start, now: now)),
            "The reference still moves with the policy, so that the penalty is 0.",
        ),
        Mutant(
            "uniform reference",
            _of(replace(RIGHT, reference=lambda start, now: np.full_like(start, -np.log(start.shape[-1])))),
            "The reference is the policy at the start, which need not be uniform.",
        ),
        Mutant(
            "penalty with the wrong sign",
            _of(RIGHT, scale=-1.0),
            "The penalty pushes away from the reference now.",
        ),
        Mutant("penalty taken away", _of(RIGHT, scale=0.0), "The penalty is gone now."),
        Mutant(
            "slope of k1",
            _of(replace(RIGHT, penalty=lambda new, ref: np.ones_like(new))),
            "The slope of e⁻ᵛ - 1 + v is 1 - e⁻ᵛ, and was right.",
        ),
        Mutant(
            "slope of k2",
            _of(replace(RIGHT, penalty=lambda new, ref: new - ref)),
            "The slope of e⁻ᵛ - 1 + v is 1 - e⁻ᵛ, and was right.",
        ),
        Mutant(
            "started from zero",
            lambda s, p, u, lr=2.0, k=0.1: _reference(np.zeros_like(np.asarray(s, float)), p, u, lr, k),
            "The policy begins at `start`.",
        ),
        Mutant(
            "no baseline",
            _of(replace(RIGHT, advantage=raw_rewards)),
            "The baseline was right; it is gone now.",
        ),
        Mutant("downhill", _of(replace(RIGHT, direction=-1.0)), "The sign was right; it is turned over now."),
    ),
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
    rtol=1e-8,
)
