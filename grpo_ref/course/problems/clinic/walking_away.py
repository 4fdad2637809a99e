"""It walks away on its leash."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.problems.bandits import draw_bandits
from grpo_ref.kernels.advantages import raw_rewards
from grpo_ref.mistakes.toy_loop import RIGHT, ToyLoop


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


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    payoffs, uniforms, rate = draw_bandits(rng, size + 1)
    return rng.normal(size=(2, 3)), payoffs, uniforms, rate, rng.uniform(0.05, 0.5)


NOTHING_TO_GAIN = ([[0.0, 0.0]], np.zeros((2, 1, 2, 2)), np.full((2, 1, 2), 0.25), 1.0, 1.0)

PROBLEM = Problem(
    id="clinic/walking_away",
    title="It walks away on its leash",
    function="train",
    reference=_reference,
    background=(
        "The patient: a training loop with a penalty that shall keep the policy near its start. However large kl_coef is chosen,"
        " the policy walks away, and the KL that it reports is 0 all the way."
    ),
    task=(
        "Find the fault in `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)` below and mend it. It shall do gradient ascent on the mean over prompts and members of\n\n"
        "    A log π - kl_coef (e⁻ᵛ - 1 + v),    v = log π - log πref\n\n"
        "with πref the softmax of `start` all the time, and A the reward minus the mean of its group."
    ),
    inputs="start: (P, V) logits to begin with.\npayoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.\nuniforms: (U, P, G) numbers in [0, 1).\nlearning_rate, kl_coef: numbers.",
    output="(P, V) the logits after U updates.",
    constraints="The fault is in one line.",
    source="a trap of NumPy, and of PyTorch.",
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
            shown=True,
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
            why="the first step makes π 3/4 and 1/4; then nobody gains, both draw arm 0, and the penalty's slope is 1 - (1/2)/(3/4)",
        ),
        Case("Nothing to gain", NOTHING_TO_GAIN, np.zeros((1, 2)), why="at the reference nothing pulls"),
        Unchanged((np.array([[0.5, -0.5]]), np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        Drawn("Random runs agree", _draw, why="starts that are not uniform, several coefficients"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            _of(replace(RIGHT, reference=lambda start, now: now)),
            "The reference still moves with the policy.",
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
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
    rtol=1e-8,
)
