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
    Scalar,
    Unchanged,
)
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


def of(loop):
    def answer(payoffs, uniforms, learning_rate=2.0):
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update, tokens, mask):
            return payoffs[update][np.arange(len(payoffs[update])), tokens[0, :, 0]][None]

        start = np.zeros((1, payoffs.shape[-1]))
        return loop(start, verify, uniforms[:, None, :, None], learning_rate)[0]

    return answer


reference = of(NORMALIZED)


def _learns(f):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        means = rng.permutation([0.1, 0.2, 0.3, 0.4, 0.8])
        payoffs = (rng.random((60, 16, 5)) < means).astype(float)
        probs = policy_of(np.asarray(f(payoffs, rng.random((60, 16))), dtype=float)).probs
        if not probs[means.argmax()] > 0.9:
            return f"after 60 updates of 16 pulls the best arm should have probability 0.9, it has {probs[means.argmax()]:.2f}"
    return None


CHECKS = (
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
)
