"""The tests of `objective/dapo_loss`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import GROUPS, Case, Domain, Mask, Real, Scalar, Unchanged
from grpo_ref.filters import mixed_groups
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO

DOMAIN = Domain(
    {
        "log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of the tokens, in nats",
        ),
        "old_log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-0.5, 0.5), (-2, 2), (-30, 30)),
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold, at most 30 nats from log_probs",
        ),
        "rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one per completion, one row per prompt"),
        "mask": Mask("P G T"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.28, (0, 20), at=(0,), meaning="how far it may go up"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "T": (1, 4)},
    large={"P": 20, "G": 20, "T": 100},
)


def reference(
    log_probs,
    old_log_probs,
    rewards,
    mask,
    clip_low=0.2,
    clip_high=0.28,
):
    log_probs, old, rewards = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, rewards))
    keep = mixed_groups(rewards)[:, None, None] & (np.asarray(mask) > 0)
    surrogate = replace(DAPO.surrogate, settings={"clip_low": clip_low, "clip_high": clip_high})
    advantages = group_normalized(rewards, ddof=0)
    recipe = replace(DAPO, surrogate=surrogate)
    return float(policy_loss(log_probs, advantages, keep, recipe=recipe, old_log_probs=old).loss)


OLD = np.log(np.full((2, 2, 2), 0.5))

NEW = np.log(np.array([[[0.6, 0.7], [0.5, 0.3]], [[0.5, 0.5], [0.5, 0.5]]]))

ONES = np.ones((2, 2, 2))

OLD_OF_THREE = np.log(np.full((1, 3, 2), 0.5))

TWO_GROUPS = [[[1, 1], [1, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]]]

UNIT = 1 / 1.0002

CHECKS = (
    Case(
        "A mixed group and one without contrast",
        (NEW, OLD, [[1, 0], [1, 1]], ONES),
        -(1.2 + 1.28 - 1.0 - 0.8) / 4 * UNIT,
        why=(
            "The second group agrees, so only the four tokens of the first count. Its advantages are 0.5"
            " / 0.5001 and"
            " -0.5 / 0.5001; its ratios are 1.2 and 1.4, which is held at 1.28, and 1 and 0.6, for which"
            " 0.8 counts:"
            " -(1.2 + 1.28 - 1 - 0.8) / 4 · 0.9998."
        ),
        shown=True,
    ),
    Case("No group is left", (NEW, OLD, [[0, 0], [1, 1]], ONES), 0.0, why="nothing to learn, and no 0/0"),
    Case(
        "Tokens count the same, not completions",
        (OLD[:1], OLD[:1], [[1, 0]], [[[1, 0], [1, 1]]]),
        UNIT / 3,
        why="one token with A = 1, two with A = -1: minus -1/3",
    ),
    Case(
        "A completion at the mean still counts",
        (OLD_OF_THREE, OLD_OF_THREE, [[0, 1, 2]], [[[1, 0], [0, 1], [1, 1]]]),
        -1 / (np.sqrt(2 / 3) + 1e-4) / 4,
        why="the advantages are -1, 0, 1 over the std, the ratios 1: (-1 + 0 + 1 + 1) / 4, not / 3",
    ),
    Case(
        "Equal rewards, though their mean is rounded",
        (
            np.repeat(OLD_OF_THREE, 2, 0),
            np.repeat(OLD_OF_THREE, 2, 0),
            [[0.1] * 3, [0, 1, 2]],
            TWO_GROUPS,
        ),
        -1 / (np.sqrt(2 / 3) + 1e-4) / 4,
        why="0.1 + 0.1 + 0.1 is not 0.3 for a computer, but the three are equal: four tokens are left",
    ),
    Case(
        "Other half-widths",
        (NEW[:1], OLD[:1], [[1, 0]], ONES[:1], 0.5, 0.1),
        -(1.1 + 1.1 - 1.0 - 0.6) / 4 * UNIT,
        why="1.2 and 1.4 held at 1.1; 0.6 is above 0.5",
    ),
    Unchanged((NEW, OLD, np.array([[1, 0], [1, 1]]), ONES)),
)
