"""Train a bandit."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop, arms, normalized
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import CONSTANT, LEVELS, MIXED, SOME_CONSTANT
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies.table import policy_of

NORMALIZED = replace(RIGHT, advantage=normalized)

DOMAIN = Domain(
    {
        "payoffs": Real(
            "U G V",
            (-100, 100),
            usual=((0, 1), (-3, 3)),
            rows=(MIXED, LEVELS, CONSTANT, SOME_CONSTANT),
            meaning="what arm v would pay to member g in update u",
        ),
        "uniforms": Real(
            "U G", (0, 0.999), at=(0,), whole=False, meaning="random numbers, one for each draw"
        ),
        "learning_rate": Scalar(
            2.0, (0.01, 4000), usual=((0.1, 3), (1, 4000)), at=(1, 4000), meaning="length of a step"
        ),
    },
    sizes={"U": (1, 4), "G": (1, 6), "V": (2, 5)},
    large={"U": 12, "G": 40},
)


def _of(loop: ToyLoop) -> Function:
    def answer(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return payoffs[update][np.arange(len(payoffs[update])), tokens[0, :, 0]][None]

        start = np.zeros((1, payoffs.shape[-1]))
        return loop(start, verify, uniforms[:, None, :, None], learning_rate)[0]

    return answer


_reference = _of(NORMALIZED)


def _on_the_bound(probs: Any, uniforms: Any) -> Any:
    """Choose an arm if its cumulative probability is at least the number."""
    return arms(probs, np.nextafter(uniforms, -1.0))


def _learns(f: Function) -> str | None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        means = rng.permutation([0.1, 0.2, 0.3, 0.4, 0.8])
        payoffs = (rng.random((60, 16, 5)) < means).astype(float)
        probs = policy_of(np.asarray(f(payoffs, rng.random((60, 16))), dtype=float)).probs
        if not probs[means.argmax()] > 0.9:
            return f"after 60 updates of 16 pulls the best arm should have probability 0.9, it has {probs[means.argmax()]:.2f}"
    return None


PROBLEM = Problem(
    id="training/train_bandit",
    title="Train a bandit",
    function="train_bandit",
    reference=_reference,
    background=(
        "A bandit is the smallest world in which one can train: V arms, and in each update the policy pulls one of"
        " them for each of the G members of a group; one pull is one completion. The policy is a row of V numbers,"
        " the logits, and pulls arm a with probability softmax(logits)[a]. What a member is paid is its reward, and"
        " its advantage says how much better than its group it did. The whole of GRPO is in here, and all that you"
        " need is from earlier exercises: a softmax, sampling, group advantages, the gradient of the softmax."
    ),
    task=(
        "Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`. The logits are zeros at first. In each of the U"
        " updates\n\n"
        "1. π = softmax(logits). Member g draws an arm: the first one whose cumulative probability"
        " π(0) + ... + π(arm) is larger than its number in `uniforms`\n"
        "2. its reward r is what this arm pays to this member in this update, `payoffs[update, g, arm]`\n"
        "3. its advantage is A = (r - mean(r)) / (std(r) + 1e-4) over the group; the standard deviation divides by"
        " G, not by G - 1\n"
        "4. all members move the logits together, each with the gradient of log π(arm):\n\n"
        "    logits += learning_rate · 1/G Σ A (one-hot(arm) - π)"
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(V,) the logits after U updates.",
    constraints=(
        "A group of one, or one in which all rewards are equal, has A = 0 and moves nothing.\n"
        "With large learning rates the logits reach thousands: take the largest off before exponentiating.\n"
        "After 60 updates of 16 pulls with the default learning rate, the best of five arms that pay 1 with"
        " probabilities 0.8, 0.4, 0.3, 0.2 and 0.1, in any order, must have a probability above 0.9."
    ),
    notes=(
        "The advantages of a group add up to zero, so the -π adds nothing to this step: whoever leaves it out gets"
        " away with it here, and not where a clip or a filter takes some of them out."
    ),
    source="Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300), with one token per completion.",
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
            why="Both arms have probability 1/2: 0.25 draws arm 0, which pays 1, and 0.75 draws arm 1, which pays 0."
            " Mean and std are 1/2, so A = ±0.5/0.5001 = ±1/1.0002. Both draws add 1/1.0002 · [1/2, -1/2],"
            " and so that is their mean.",
            shown=True,
        ),
        Case(
            "Everyone gets the same",
            (np.ones((3, 4, 2)), np.full((3, 4), 0.3)),
            np.zeros(2),
            why="no contrast, no step",
        ),
        Holds("It learns the best arm", _learns, why="three bandits of five arms, 60 updates each"),
        Unchanged((np.ones((2, 2, 2)), np.full((2, 2), 0.3))),
        Case(
            "A large learning rate",
            ([[[1, 0], [1, 0]]] * 2, [[0.25, 0.75]] * 2, 4000.0),
            np.array([2000.0, -2000.0]) / 1.0002,
            why="after the first update both draw arm 0 and are paid the same: the second one moves nothing",
        ),
        Case(
            "A number on the bound",
            ([[[1, 0], [1, 0]]], [[0.5, 0.25]], 1.0),
            np.array([0.5, -0.5]) / 1.0002,
            why="arm 0 has a cumulative probability of 0.5, which is not larger than 0.5: arm 1 is drawn",
        ),
        Case(
            "Paid nearly the same",
            ([[[0.0005, 0], [0.0005, 0]]], [[0.25, 0.75]], 1.0),
            np.array([5.0, -5.0]) / 14.0,
            why="A = ±0.00025/(0.00025 + 0.0001) = ±5/7: payoffs that differ a little differ",
        ),
        FromDomain(),
        *found_cases(__file__),
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
            "drawn on the bound",
            _of(replace(NORMALIZED, walk=_on_the_bound)),
            "A number equal to a cumulative probability belongs to the next arm: larger, not at least.",
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
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
)
