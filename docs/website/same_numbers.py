"""Compare what two parts compute, on a batch without empty completions and with ratios from 1/8 to 8.

On this batch, the eps of a denominator, a bound that no ratio reaches and the treatment of empty completions
make no visible difference.
"""

from dataclasses import replace
from functools import cache
from math import log
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

RTOL = 1e-3
"""Tolerance relative to the largest number. The effect of an eps of 1e-4 added to a std is smaller."""
SHAPE = PROMPTS, GROUP, TOKENS = 8, 6, 24
FEW = 3
"""Number of most likely tokens that some surrogates read."""


def is_same(recipe: Recipe, other: Recipe, part: str) -> bool:
    """Return True if a recipe computes the same numbers with a part of another recipe in place of its own.

    >>> from grpo_ref import DAPO, DR_GRPO, GRPO
    >>> is_same(DAPO, GRPO, "surrogate"), is_same(DR_GRPO, replace(DR_GRPO, kl_coef=1e-9), "kl_coef")
    (False, True)
    """
    changed = replace(recipe, **{part: getattr(other, part)})
    try:
        pairs = zip(_numbers(recipe), _numbers(changed), strict=True)
        return all(_close(before, after) for before, after in pairs)
    except ValueError:
        return False


def _close(before: Floats, after: Floats) -> bool:
    return before.shape == after.shape and bool(
        np.allclose(before, after, rtol=0.0, atol=RTOL * max(1e-9, np.abs(before).max()))
    )


def _numbers(recipe: Recipe) -> tuple[Floats, ...]:
    """Return the results of each stage that can be seen: rewards, kept groups and completions, gradient.

    Advantages are not compared: some surrogates read only their signs.
    """
    record = _record()
    record.rewards = recipe.reward(record)
    kept, admitted = recipe.keep(record), recipe.admit(record)
    advantages = recipe.advantage(record)
    fields = (*OTHERS, "entropies", "noise", *TOP)
    loss = policy_loss(
        record.log_probs,
        advantages,
        record.mask,
        recipe=recipe,
        max_length=TOKENS,
        **{name: getattr(record, name) for name in fields},
    )
    return record.rewards, kept, admitted, loss.gradient


TOP = ("top_log_probs", "top_rollout_log_probs")
OTHERS = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "teacher_log_probs")


def _record() -> SimpleNamespace:
    """Return a copy of the batch, because parts may change it."""
    return SimpleNamespace(**_fields())


@cache
def _fields() -> dict[str, Floats]:
    rng = np.random.default_rng(0)
    log_probs = np.log(rng.uniform(0.15, 0.9, SHAPE))
    spread = log(8.0)
    lengths = rng.integers(2, TOKENS + 1, SHAPE[:2])
    components = rng.integers(0, 2, (*SHAPE[:2], 2)).astype(float)
    components[0], lengths[0] = 1.0, 2  # a group with equal rewards and short completions
    return {
        **{name: log_probs + rng.uniform(-spread, spread, SHAPE) for name in OTHERS},
        **{name: np.log(rng.dirichlet(np.ones(FEW + 1), SHAPE)[..., :FEW]) for name in TOP},
        "log_probs": log_probs,
        "entropies": rng.uniform(0.1, 2.0, SHAPE),
        "noise": rng.uniform(size=SHAPE),
        "mask": (np.arange(TOKENS) < lengths[..., None]).astype(float),
        "lengths": lengths.astype(float),
        "ended": rng.integers(0, 2, SHAPE[:2]).astype(bool),
        "components": components,
        "weights": np.ones(2),
        "rewards": components.sum(-1),
        "max_length": np.asarray(TOKENS),
    }
