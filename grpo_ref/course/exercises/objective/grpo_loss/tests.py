"""The tests of `objective/grpo_loss`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.course.author import (
    CONSTANT,
    LEVELS,
    MIXED,
    Case,
    Domain,
    Holds,
    Mask,
    Real,
    Scalar,
    Unchanged,
)
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import GRPO

OFFSETS = ((-0.5, 0.5), (-2.0, 2.0), (-30.0, 30.0))

DOMAIN = Domain(
    {
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of the tokens, in nats",
        ),
        "old_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold, at most 30 nats from log_probs",
        ),
        "ref_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πref, at most 30 nats from log_probs",
        ),
        "advantages": Real("N", (-100, 100), rows=(MIXED, LEVELS, CONSTANT), meaning="one per completion"),
        "mask": Mask("N T", empty_rows=False, nothing=False),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε"),
        "kl_coef": Scalar(0.04, (0, 10), at=(0,), meaning="β"),
    },
    sizes={"N": (1, 4), "T": (1, 5)},
    large={"N": 40, "T": 200},
)


def evaluated(
    log_probs,
    old_log_probs,
    ref_log_probs,
    advantages,
    mask,
    clip=0.2,
    kl_coef=0.04,
):
    """Return GRPO's loss of N completions as one group, with its gradient."""
    new, old, ref, present = (
        np.asarray(x, dtype=float)[None] for x in (log_probs, old_log_probs, ref_log_probs, mask)
    )
    surrogate = replace(GRPO.surrogate, settings={"clip_low": clip, "clip_high": clip})
    recipe = replace(GRPO, surrogate=surrogate, kl_coef=kl_coef)
    advantages = np.asarray(advantages, dtype=float)[None]
    return policy_loss(new, advantages, present, recipe=recipe, old_log_probs=old, ref_log_probs=ref)


def reference(*arguments, **settings):
    return float(evaluated(*arguments, **settings).loss)


LP = np.log(np.array([[0.6, 0.5], [0.5, 0.9]]))

HALF = np.log(np.full((2, 2), 0.5))

A, MASK = np.array([1.0, -1.0]), np.array([[1, 1], [1, 0]])


def _on_policy(f):
    value = np.asarray(f(HALF, HALF, HALF, np.array([2.0, -1.0]), MASK)).item()
    right = abs(value + 0.5) < 1e-8
    return None if right else "with equal policies only minus the mean advantage should be left"


CHECKS = (
    Case(
        "One clipped token, no penalty",
        (LP, HALF, HALF, A, MASK, 0.1, 0.0),
        -0.025,
        why=(
            "clip is 0.1 and kl_coef 0. The first completion has A = 1 and the ratios 0.6 / 0.5 = 1.2,"
            " held at 1.1,"
            " and 1: mean 1.05. The second has A = -1 and one token of ratio 1: -1. Minus their mean is"
            " -0.025."
        ),
        shown=True,
    ),
    Holds(
        "On policy the loss is minus the mean advantage",
        _on_policy,
        why="every ratio is 1, every penalty 0",
    ),
    Case(
        "The penalty counts",
        (LP, LP, HALF, np.zeros(2), MASK, 0.2, 1.0),
        (np.log(1.2) + 1 / 1.2 - 1) / 4,
        why="k3 at v = log 1.2 for one token of two, in one completion of two",
    ),
    Case(
        "The defaults",
        (LP, HALF, HALF, A, MASK),
        -0.05 + 0.01 * (np.log(1.2) + 1 / 1.2 - 1),
        why="with a clip of 0.2 the ratio 1.2 counts as it is, and 0.04 k3 comes off one of two tokens",
    ),
    Case(
        "A bad token still too likely",
        (np.log([[0.9]]), np.log([[0.5]]), np.log([[0.9]]), [-1.0], [[1]], 0.2, 0.0),
        1.8,
        why="min(-1.8, -1.2) is not clipped",
    ),
    Unchanged((LP, HALF, HALF, A, MASK)),
)
