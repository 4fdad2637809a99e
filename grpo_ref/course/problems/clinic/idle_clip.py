"""The clip fraction is zero, whatever you do."""

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
from grpo_ref.course.problems.bandits import draw_bandits, on_bandits
from grpo_ref.kernels.advantages import raw_rewards
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.toy_loop import RIGHT, ToyLoop


def _of(loop: ToyLoop, **fixed: Any) -> Function:
    def train(
        payoffs: Any, uniforms: Any, learning_rate: float = 2.0, steps: int = 4, clip: float = 0.2
    ) -> Any:
        settings = {"epochs": steps, "clip": clip} | fixed
        return on_bandits(loop, **settings)(payoffs, uniforms, learning_rate)

    return train


_reference = _of(RIGHT)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    payoffs, uniforms, _ = draw_bandits(rng, size)
    return payoffs, uniforms, rng.uniform(1.0, 4.0), int(rng.integers(2, 5)), rng.uniform(0.05, 0.3)


def _only_inside(log_ratio: Any, advantages: Any, clip: float) -> Any:
    ratio = np.exp(log_ratio)
    return np.where(abs(ratio - 1.0) > clip, 0.0, ratio * advantages)


ONE: tuple[Any, ...] = ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)

PROBLEM = Problem(
    id="clinic/idle_clip",
    title="The clip fraction is zero, whatever you do",
    function="train",
    reference=_reference,
    background=(
        "The patient: a training loop that uses each batch for several steps, with a clip against going too far. The clip never"
        " acts; the policy is thrown about, and the clip fraction that it reports is exactly zero in every step."
    ),
    task=(
        "Find the fault in `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)` below and mend it. In each update it shall draw a batch, then take `steps` steps uphill on\n\n"
        "    mean of min(r A, clip(r, 1 - clip, 1 + clip) A),    r = π / πold\n\n"
        "with πold the policy that drew the batch, and A the reward minus the mean of its group."
    ),
    inputs="payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.\nuniforms: (U, P, G) numbers in [0, 1).\nlearning_rate, clip: numbers.\nsteps: how often each batch is used.",
    output="(P, V) the logits after U updates.",
    constraints="The fault is in one line.",
    source='reported again and again as "my clip fraction is always 0".',
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
            why="the first step is 4 · 1/4; π(0) is then 0.88 and π(1) 0.12, ratios 1.76 and 0.24, both beyond the clip where A points",
            shown=True,
        ),
        Case(
            "One step is always on policy",
            ([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 1, 0.2),
            np.array([[0.25, -0.25]]),
            why="the ratio is 1",
        ),
        Unchanged((np.ones((2, 1, 2, 2)), np.full((2, 1, 2), 0.3))),
        Drawn("Random runs agree", _draw, why="several steps per batch, several clips"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            _of(replace(RIGHT, old=lambda then, now: now)),
            "The ratio is still 1 in every step.",
        ),
        Mutant(
            "clip taken away",
            _of(replace(RIGHT, slope=stages.never_clipped)),
            "The clip was right; it is gone now.",
        ),
        Mutant(
            "ratio taken away",
            _of(replace(RIGHT, slope=stages.no_ratio)),
            "The slope of a token that is not clipped is r A.",
        ),
        Mutant(
            "clipped on both sides",
            _of(replace(RIGHT, slope=_only_inside)),
            "A ratio outside the band still has a slope if the advantage calls it back.",
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
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
    rtol=1e-8,
)
