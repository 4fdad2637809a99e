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
    Rule,
    Scalar,
    Unchanged,
)
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import GRPO

OFFSETS = ((-0.5, 0.5), (-2.0, 2.0), (-30.0, 30.0))


def on_tokens(values, name):
    """Return the numbers of an argument where the mask is 1."""
    return np.asarray(values[name], dtype=float)[np.asarray(values["mask"]) > 0]


def are_near(values):
    log_probs = on_tokens(values, "log_probs")
    others = (on_tokens(values, name) for name in ("old_log_probs", "ref_log_probs"))
    return all((np.abs(log_probs - other) < 30.0 + 1e-9).all() for other in others)


DOMAIN = Domain(
    {
        "log_probs": Real(
            "N T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of each token",
        ),
        "old_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold of each token",
        ),
        "ref_log_probs": Real(
            "N T",
            (-1000, 0),
            usual=OFFSETS,
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πref of each token",
        ),
        "advantages": Real("N", (-100, 100), rows=(MIXED, LEVELS, CONSTANT), meaning="A, one per completion"),
        "mask": Mask("N T", empty_rows=False, nothing=False),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε, half-width of the clip range"),
        "kl_coef": Scalar(0.04, (0, 10), at=(0,), meaning="β, weight of the penalty"),
    },
    sizes={"N": (1, 4), "T": (1, 5)},
    large={"N": 40, "T": 200},
    rules=(
        Rule(
            "On tokens, `old_log_probs` and `ref_log_probs` differ from `log_probs` by at most 30.", are_near
        ),
    ),
)


def evaluated(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
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


HALF = np.log([[0.5, 0.5], [0.5, 0.5]]).tolist()
MOVED = np.log([[0.6, 0.5], [0.5, 0.9]]).tolist()
"""Log-probabilities before and after an update; the last position is padding."""
ADVANTAGES, MASK = [1, -1], [[1, 1], [1, 0]]
LOWER_BOUND = (np.log([[0.25, 0.75]]).tolist(), HALF[:1], np.log([[0.25, 0.75]]).tolist(), [-1.0], [[1, 1]])
PENALTY_ALONE = ([[np.log(0.6)]], [[np.log(0.6)]], [[np.log(0.5)]], [0.0], [[1]])


def minus_the_mean_advantage(f):
    value = np.asarray(f(HALF, HALF, HALF, [2.0, -1.0], MASK)).item()
    is_right = abs(value + 0.5) < 1e-8
    return None if is_right else "with equal policies only minus the mean advantage should remain"


CHECKS = (
    Case(
        "One clipped token, no penalty",
        (MOVED, HALF, HALF, ADVANTAGES, MASK, 0.1, 0.0),
        -0.025,
        why="The first completion has the ratios 1.2, clipped at 1.1, and 1: mean 1.05. The second has the mean -1.",
        shown=True,
    ),
    Case(
        "The lower bound, with the defaults",
        LOWER_BOUND,
        1.15,
        why="min(-0.5, -0.8) = -0.8 is clipped, min(-1.5, -1.2) = -1.5 is not. The mean is -1.15.",
        shown=True,
    ),
    Case(
        "The penalty alone, with the defaults",
        PENALTY_ALONE,
        0.04 * (np.log(1.2) + 1 / 1.2 - 1),
        why="v = log 1.2, so k3 = 1/1.2 - 1 + log 1.2 = 0.0156549. The loss is 0.04 times k3.",
        shown=True,
    ),
    Holds(
        "With equal policies the loss is minus the mean advantage",
        minus_the_mean_advantage,
        why="Every ratio is 1 and every penalty is 0.",
    ),
    Case(
        "The penalty of one token",
        (MOVED, MOVED, HALF, [0, 0], MASK, 0.2, 1.0),
        (np.log(1.2) + 1 / 1.2 - 1) / 4,
        why="k3 at v = log 1.2 counts for one of two tokens, in one of two completions.",
    ),
    Case(
        "A bad token that is still too likely",
        ([[np.log(0.9)]], [[np.log(0.5)]], [[np.log(0.9)]], [-1.0], [[1]], 0.2, 0.0),
        1.8,
        why="min(-1.8, -1.2) = -1.8 is not clipped.",
    ),
    Case(
        "Unlikely tokens whose log-probabilities differ a little",
        ([[-900.0]], [[-900.004]], [[-900.005]], [1.0], [[1]], 0.2, 1.0),
        -np.exp(0.004) + np.exp(-0.005) - 1 + 0.005,
        why="The ratio is exp(0.004) and v is 0.005: only the differences matter, not their size beside 900.",
    ),
    Unchanged(tuple(np.array(values, dtype=float) for values in (MOVED, HALF, HALF, ADVANTAGES, MASK))),
)
