"""Train a bandit."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.kernels.advantages import raw_rewards
from grpo_ref.kernels.aggregation import token_sum
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.toy_loop import RIGHT, ToyLoop, normalized

NORMALIZED = replace(RIGHT, advantage=normalized)


def _of(loop: ToyLoop) -> Function:
    def answer(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return payoffs[update][np.arange(len(payoffs[update])), tokens[0, :, 0]][None]

        start = np.zeros((1, payoffs.shape[-1]))
        return loop(start, verify, uniforms[:, None, :, None], learning_rate)[0]

    return answer


_reference = _of(NORMALIZED)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    updates, group, arms = size, size + 1, 3
    return (
        rng.integers(0, 3, (updates, group, arms)).astype(float),
        rng.random((updates, group)),
        rng.uniform(0.5, 2.0),
    )


def _learns(f: Function) -> str | None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        means = rng.permutation([0.1, 0.2, 0.3, 0.4, 0.8])
        payoffs = (rng.random((150, 16, 5)) < means).astype(float)
        probs = policy_of(np.asarray(f(payoffs, rng.random((150, 16))), dtype=float)).probs
        if not probs[means.argmax()] > 0.9:
            return f"after 150 updates of 16 pulls the best arm should have probability 0.9, it has {probs[means.argmax()]:.2f}"
    return None


PROBLEM = Problem(
    id="training/train_bandit",
    title="Train a bandit",
    function="train_bandit",
    reference=_reference,
    background=(
        "A bandit is the smallest world with a group: every completion is one pull of an arm. All you need is from earlier"
        " exercises: a softmax, sampling, group advantages, the softmax's gradient."
    ),
    task=(
        "Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`. Start from logits 0; in each update\n\n"
        "1. π = softmax(logits); draw one arm for each of the G uniform numbers u: the first one whose cumulative probability is larger than u\n"
        "2. r = what the arm pays to this member in this update\n"
        "3. A = (r - mean(r)) / (std(r) + 1e-4), the std with divisor G\n"
        "4. logits += learning_rate · 1/G Σ A (one-hot of the arm - π)"
    ),
    inputs="payoffs: (U, G, V), what arm v would pay to member g in update u.\nuniforms: (U, G) numbers in [0, 1).\nlearning_rate: a number.",
    output="(V,) the logits after U updates.",
    constraints="After 150 updates of 16 pulls with the default learning rate, the best of five arms that pay 1 with probabilities 0.8, 0.4, 0.3, 0.2, 0.1 must have a probability above 0.9.",
    notes="The advantages of a group add up to zero, so the -π adds nothing to this step: whoever leaves it out gets away with it here, and not where a clip or a filter takes some of them out.",
    source="Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), with one token per completion.",
    hints=(
        "Write one update first, and put a loop around it. Which numbers change from one update to the next?",
        "payoffs[u, np.arange(G), arms] is what the chosen arms pay.",
        "logits += learning_rate * (A[:, None] * (np.eye(V)[arms] - probs)).mean(0)",
    ),
    checks=(
        Case(
            "One update by hand",
            ([[[1, 0], [1, 0]]], [[0.25, 0.75]], 1.0),
            np.array([0.5, -0.5]) / 1.0002,
            why="arms 0 and 1 pay 1 and 0, A = ±0.5/0.5001; the mean of A (one-hot - 1/2) is ±1/2 of that",
            shown=True,
        ),
        Case(
            "Everyone gets the same",
            (np.ones((3, 4, 2)), np.full((3, 4), 0.3)),
            np.zeros(2),
            why="no contrast, no step",
        ),
        Holds("It learns the best arm", _learns, why="three bandits of five arms, 150 updates each"),
        Unchanged((np.ones((2, 2, 2)), np.full((2, 2), 0.3))),
        Drawn("Random runs agree", _draw, why="a few updates on three arms, step by step as described"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "downhill",
            _of(replace(NORMALIZED, direction=-1.0)),
            "The sign is turned over: it learns the worst arm.",
        ),
        Mutant(
            "no baseline",
            _of(replace(NORMALIZED, advantage=raw_rewards)),
            "The rewards are used as they are; the mean of the group is to be taken off.",
        ),
        Mutant("centered only", _of(RIGHT), "The advantages are not divided by the std."),
        Mutant(
            "greedy",
            _of(replace(NORMALIZED, walk=stages.greedy)),
            "It pulls the likeliest arm each time and never explores.",
        ),
        Mutant(
            "pulls lost",
            _of(replace(NORMALIZED, back=stages.repeats_lost)),
            "`gradient[arms] += x` writes a repeated arm once.",
        ),
        Mutant(
            "sum for mean",
            _of(replace(NORMALIZED, weight=token_sum)),
            "The sum over the group is not divided by G.",
        ),
        Mutant(
            "the same numbers in every update",
            lambda p, u, lr=2.0: _reference(p, np.broadcast_to(np.asarray(u)[:1], np.shape(u)), lr),
            "Each update has its own random numbers.",
        ),
        Mutant(
            "the first payoffs in every update",
            lambda p, u, lr=2.0: _reference(np.broadcast_to(np.asarray(p)[:1], np.shape(p)), u, lr),
            "Each update has its own payoffs.",
        ),
        Mutant(
            "the last update only",
            lambda p, u, lr=2.0: _reference(np.asarray(p)[-1:], np.asarray(u)[-1:], lr),
            "The logits are carried from one update to the next.",
        ),
        Mutant(
            "probabilities returned",
            lambda p, u, lr=2.0: policy_of(_reference(p, u, lr)).probs,
            "The logits are asked for.",
        ),
    ),
    others={"a list": lambda p, u, lr=2.0: _reference(p, u, lr).tolist()},
)
