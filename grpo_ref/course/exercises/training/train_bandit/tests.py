"""The tests of `training/train_bandit`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT, normalized
from grpo_ref.course.author import (
    CONSTANT,
    LEVELS,
    MIXED,
    SOME_CONSTANT,
    Case,
    Domain,
    Holds,
    Real,
    Rule,
    Scalar,
    Unchanged,
)
from grpo_ref.course.exercises.bandits import NO_ARM_BY_ROUNDING, without_ties
from grpo_ref.learning.policies.table import policy_of

NORMALIZED = replace(RIGHT, advantage=normalized)


def of(loop):
    """Return the exercise's function, made of this loop."""

    def train(payoffs, uniforms, learning_rate=2.0):
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update, tokens, mask):
            return payoffs[update][np.arange(len(payoffs[update])), tokens[0, :, 0]][None]

        start = np.zeros((1, payoffs.shape[-1]))
        return loop(start, verify, uniforms[:, None, :, None], learning_rate)[0]

    return train


reference = of(NORMALIZED)


def _equal_rewards_are_exact(values):
    """Return whether no large step follows equal rewards whose mean has a rounding error."""
    is_exact = []

    def advantage(rewards):
        differs = np.ptp(rewards) > 0.0
        is_exact.append(bool(differs or np.all(rewards == np.floor(rewards))))
        return NORMALIZED.advantage(rewards)

    of(replace(NORMALIZED, advantage=advantage))(**values)
    return values["learning_rate"] <= 10 or all(is_exact)


SAMPLES = without_ties(NO_ARM_BY_ROUNDING, of, NORMALIZED)

DOMAIN = Domain(
    {
        "payoffs": Real(
            "U G V",
            (-10, 10),
            usual=((0, 1), (-3, 3)),
            rows=(MIXED, LEVELS, CONSTANT, SOME_CONSTANT),
            meaning="reward of arm v for pull g in update u",
        ),
        "uniforms": Real(
            "U G", (0, 0.999), at=(0,), whole=False, meaning="random numbers, one for each pull"
        ),
        "learning_rate": Scalar(
            2.0, (0.01, 4000), usual=((0.1, 3), (1, 4000)), at=(1, 4000), meaning="step size"
        ),
    },
    sizes={"U": (1, 4), "G": (1, 6), "V": (2, 5)},
    large={"U": 12, "G": 40},
    rules=(Rule(SAMPLES.text, lambda values: SAMPLES.holds(values) and _equal_rewards_are_exact(values)),),
)


def _learns(function):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        means = rng.permutation([0.1, 0.2, 0.3, 0.4, 0.8])
        payoffs = (rng.random((60, 16, 5)) < means).astype(float)
        probs = policy_of(np.asarray(function(payoffs, rng.random((60, 16))), dtype=float)).probs
        best = probs[means.argmax()]
        if not best > 0.9:
            return f"after 60 updates the best arm should have a probability above 0.9, but has {best:.2f}"
    return None


# Half the advantage, in absolute value, of a pull without a reward among four pulls of which one has a reward.
UNIT = 0.25 / (np.sqrt(3.0) / 4 + 1e-4) / 2

CHECKS = (
    Case(
        "One update by hand",
        ([[[1, 0], [1, 0]]], [[0.25, 0.75]], 1.0),
        np.array([0.5, -0.5]) / 1.0002,
        why="A is ±0.5 / 0.5001 = ±1/1.0002. Both pulls add 1/1.0002 · [1/2, -1/2], and so their mean does.",
        shown=True,
    ),
    Case(
        "A number equal to a cumulative probability",
        ([[[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0]]], [[0, 0.25, 0.5, 0.75]]),
        np.array([-UNIT, -UNIT, 3 * UNIT, -UNIT]),
        why="The pulls select arms 0, 1, 2 and 3, because no cumulative probability is larger than itself.",
        shown=True,
    ),
    Case(
        "Two updates",
        ([[[1, 0], [1, 0]], [[2, 0], [2, 0]]], [[0.25, 0.75], [0.6, 0.8]], 1.0),
        np.array([0.5, -0.5]) / 1.0002 + np.array([0.5, -0.5]) / 1.0001,
        why="A is ±1/1.0002 in the first update and ±1/1.0001 in the second.",
        shown=True,
    ),
    Case(
        "Equal rewards",
        (np.ones((3, 4, 2)), np.full((3, 4), 0.3)),
        np.zeros(2),
        why="A is 0 in a group with equal rewards.",
    ),
    Holds("A long run learns the best arm", _learns, why="three bandits with five arms each, 60 updates"),
    Unchanged((np.ones((2, 2, 2)), np.full((2, 2), 0.3))),
    Case(
        "A large learning rate",
        ([[[1, 0], [1, 0]]] * 2, [[0.25, 0.75]] * 2, 4000.0),
        np.array([2000.0, -2000.0]) / 1.0002,
        why="In the second update both pulls select arm 0 and have equal rewards, so A is 0.",
    ),
    Case(
        "Two arms of equal probability",
        ([[[1, 0], [1, 0]]], [[0.5, 0.25]], 1.0),
        np.array([0.5, -0.5]) / 1.0002,
        why="Arm 0 has the cumulative probability 0.5, which is not larger than 0.5, so arm 1 is selected.",
    ),
    Case(
        "Rewards that differ a little",
        ([[[0.0005, 0], [0.0005, 0]]], [[0.25, 0.75]], 1.0),
        np.array([5.0, -5.0]) / 14.0,
        why="A is ±0.00025 / (0.00025 + 0.0001) = ±5/7.",
    ),
)
