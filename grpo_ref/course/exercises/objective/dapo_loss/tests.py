"""The tests of `objective/dapo_loss`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import GROUPS, Case, Domain, Mask, Real, Rule, Scalar, Unchanged
from grpo_ref.course.exercises.objective.grpo_loss.tests import on_tokens
from grpo_ref.filters import mixed_groups
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO


def are_near(values):
    offsets = on_tokens(values, "log_probs") - on_tokens(values, "old_log_probs")
    return bool((np.abs(offsets) < 30.0 + 1e-9).all())


DOMAIN = Domain(
    {
        "log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of each token",
        ),
        "old_log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-0.5, 0.5), (-2, 2), (-30, 30)),
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold of each token",
        ),
        "rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one reward per completion"),
        "mask": Mask("P G T"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="lower bound of the ratio: 1 - clip_low"),
        "clip_high": Scalar(0.28, (0, 20), at=(0,), meaning="upper bound of the ratio: 1 + clip_high"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "T": (1, 4)},
    large={"P": 20, "G": 20, "T": 100},
    rules=(Rule("On tokens, `old_log_probs` differs from `log_probs` by at most 30.", are_near),),
)


def reference(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    log_probs, old, rewards = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, rewards))
    keep = mixed_groups(rewards)[:, None, None] & (np.asarray(mask) > 0)
    surrogate = replace(DAPO.surrogate, settings={"clip_low": clip_low, "clip_high": clip_high})
    advantages = group_normalized(rewards, ddof=0)
    recipe = replace(DAPO, surrogate=surrogate)
    return float(policy_loss(log_probs, advantages, keep, recipe=recipe, old_log_probs=old).loss)


OLD = np.log(np.full((2, 2, 2), 0.5)).tolist()
NEW = np.log([[[0.6, 0.7], [0.5, 0.3]], [[0.5, 0.5], [0.5, 0.5]]]).tolist()
ONES = [[[1, 1], [1, 1]], [[1, 1], [1, 1]]]
SAME = [[[-0.5, -0.5]] * 3]
"""Log-probabilities of one group of three completions."""
TWO_GROUPS = [[[1, 1], [1, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]]]
ADVANTAGE_OF_TWO = 0.5 / 0.5001
ADVANTAGE_OF_THREE = 1 / (np.sqrt(2 / 3) + 1e-4)
"""Advantage of the best reward among 0, 1 and among 0, 1, 2."""

CHECKS = (
    Case(
        "One group counts, the other one does not",
        (NEW, OLD, [[1, 0], [1, 1]], ONES),
        -(1.2 + 1.28 - 1.0 - 0.8) / 4 * ADVANTAGE_OF_TWO,
        why="Only the four tokens of the first group count: -(1.2 + 1.28 - 1 - 0.8) / 4 · 0.9998.",
        shown=True,
    ),
    Case(
        "An advantage of 0, and a completion without tokens",
        (SAME, SAME, [[2, 1, 0]], [[[1, 1], [1, 0], [0, 0]]]),
        -2 / 3 * ADVANTAGE_OF_THREE,
        why="Three tokens count, two of them with A = 1.2246 and one with A = 0.",
        shown=True,
    ),
    Case(
        "No tokens remain",
        ([[[-0.5], [-0.5]]], [[[-0.5], [-0.5]]], [[1, 1]], [[[1], [1]]]),
        0.0,
        why="The rewards of the only group are equal.",
        shown=True,
    ),
    Case(
        "Two groups with equal rewards",
        (NEW, OLD, [[0, 0], [1, 1]], ONES),
        0.0,
        why="No tokens remain, so the loss is 0 and not 0/0.",
    ),
    Case(
        "Every token has the same weight",
        (OLD[:1], OLD[:1], [[1, 0]], [[[1, 0], [1, 1]]]),
        ADVANTAGE_OF_TWO / 3,
        why="One token has the advantage A and two tokens have -A: the mean is -A/3.",
    ),
    Case(
        "Padding before and after a token",
        (
            [[[-1.0, -0.5, -1.0], [-1.0, -0.5, -0.7]]],
            [[[-2.0, -0.5, -3.0], [-5.0, -0.5, -0.7]]],
            [[1, 0]],
            [[[0, 1, 0], [0, 1, 1]]],
        ),
        ADVANTAGE_OF_TWO / 3,
        why="The ratios of the three tokens are 1. One token has the advantage A, and two have -A.",
    ),
    Case(
        "A completion at the mean counts",
        (SAME, SAME, [[0, 1, 2]], [[[1, 0], [0, 1], [1, 1]]]),
        -ADVANTAGE_OF_THREE / 4,
        why="Four tokens count, also the token whose advantage is 0.",
    ),
    Case(
        "Equal rewards, although their mean is rounded",
        (SAME * 2, SAME * 2, [[0.1] * 3, [0, 1, 2]], TWO_GROUPS),
        -ADVANTAGE_OF_THREE / 4,
        why="The computed mean of three rewards of 0.1 is not 0.1, but the rewards are equal.",
    ),
    Case(
        "Other bounds",
        (NEW[:1], OLD[:1], [[1, 0]], ONES[:1], 0.5, 0.1),
        -(1.1 + 1.1 - 1.0 - 0.6) / 4 * ADVANTAGE_OF_TWO,
        why="1.2 and 1.4 are clipped at 1.1, and 0.6 is above the lower bound 0.5.",
    ),
    Case(
        "Unlikely tokens whose log-probabilities differ a little",
        ([[[-900.0], [-900.0]]], [[[-900.004], [-899.997]]], [[1, 0]], [[[1], [1]]]),
        -(np.exp(0.004) - np.exp(-0.003)) / 2 * ADVANTAGE_OF_TWO,
        why="The ratios are exp(0.004) and exp(-0.003): only the differences matter, not their size beside 900.",
    ),
    Unchanged(tuple(np.array(values, dtype=float) for values in (NEW, OLD, [[1, 0], [1, 1]], ONES))),
)
