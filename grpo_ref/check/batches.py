"""Generate batches that distinguish implementations.

Completions have different lengths. One of them may be empty, all but one, or all of them. The mask may have
holes, ratios may be extreme, and the rewards of a group may be equal. Groups may have one completion, there
may be a single group, and the padding may hold 0, other numbers or NaN.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from grpo_ref.advantages import best_of_group, leave_one_out, ranked
from grpo_ref.arrays import Floats, Integers
from grpo_ref.recipes import GRPO, Recipe, Slot

EMPTY, HOLED, DEAD = "an empty completion", "a tool's output masked out", "a group with equal rewards"
MANY, CLOSE = "many completions", "rewards close together"
NO_TOKEN, ONE_LEFT = "no token at all", "all completions empty but one"
ALONE, ONE_GROUP, WIDE = "groups of one", "a single group", "padding beyond the longest completion"
KINDS = (
    *("ragged", EMPTY, "extreme ratios", DEAD, "on policy", HOLED, MANY, CLOSE),
    *(WIDE, ONE_LEFT, NO_TOKEN, ONE_GROUP, ALONE),
)
ONE_UNLIKE, EQUAL = "one reward unlike seven equal ones", "equal rewards beside different ones"
ROUNDED_KINDS = (ONE_UNLIKE, EQUAL)
"""Kinds for single precision only. It rounds 0.95 and 0.35, and sums of such rewards are inexact."""
PADDINGS = {"zeros in the padding": 0.0, "garbage in the padding": -7.5, "NaN in the padding": np.nan}
"""Description -> the number that fills the padding."""


ROUNDING = 0.05
"""Relative error that is allowed on these batches. An ε of 1e-6 beside the spread keeps it smaller."""


@dataclass(frozen=True)
class Trial:
    """One generated batch, on which both the function and the recipe are evaluated.

    Attributes:
      kind: description of the batch, such as "extreme ratios, NaN in the padding".
      log_probs, old_log_probs, ref_log_probs, rollout_log_probs, teacher_log_probs: (N, T) in nats.
      advantages: (N,).
      mask: (N, T) 1 on completion tokens, 0 on padding and on a tool's output inside a completion.
      clean: true if the padding holds only zeros.
      sequence_ids: (1, L) index of each token's completion, if the batch is packed into one row of L tokens.
        Then the arrays above are (1, L), the advantages too.
      completions: number of completions in the packed row, empty completions included.
      rewards: (N,) rewards from which the advantages were computed; the groups follow one another.
      group_size: G.
      rounding: relative error that the batch allows a right function in single precision.
    """

    kind: str
    log_probs: Floats
    old_log_probs: Floats
    ref_log_probs: Floats
    rollout_log_probs: Floats
    teacher_log_probs: Floats
    advantages: Floats
    mask: Floats
    clean: bool = True
    sequence_ids: Integers | None = None
    completions: int | None = None
    rewards: Floats | None = None
    group_size: int = 3
    rounding: float = 0.0

    @property
    def flaws(self) -> frozenset[str]:
        """Features of the batch that a trainer may rule out, worded to follow "right, except for batches"."""
        counted = self.mask > 0
        padding = self.log_probs[~counted]
        features = {
            NAN: bool(np.isnan(padding).any()),
            GARBAGE: bool((np.isfinite(padding) & (padding != 0.0)).any()),
            NOTHING: self.completions is None and bool((~counted.any(-1)).any()),
            TOKENLESS: not counted.any(),
            RESIDUE: self.rounding == ROUNDING,
            SINGLE: self.group_size == 1,
            HOLE: bool((np.diff(counted.astype(int)) > 0).any()),
            ALIKE: self.rewards is not None
            and self.group_size > 1
            and bool((np.ptp(self.rewards.reshape(-1, self.group_size), axis=-1) == 0.0).any()),
        }
        return frozenset(text for text, present in features.items() if present)


NAN, GARBAGE = "with NaN in the padding", "with numbers other than 0 in the padding"
NOTHING, HOLE = "with an empty completion", "with a hole in the mask"
ALIKE = "with a group of equal rewards"
TOKENLESS, SINGLE = "without any token", "with a group of one completion"
RESIDUE = "whose equal rewards have a standard deviation that is a rounding error"


def trials(
    recipe: Recipe,
    seed: int,
    *,
    prompts: int = 2,
    group_size: int = 3,
    kinds: tuple[str, ...] = KINDS,
) -> Iterator[Trial]:
    """Generate batches without end: each kind with each padding in turn, then again with other numbers.

    Args:
      recipe: recipe whose advantages are used if they are computed from rewards alone; GRPO's otherwise.
      seed: seed of the random numbers.
      prompts, group_size: P and G; N = P G. Batches of the kind "many completions" have three times as many
        prompts. Those of the kind "a single group" have P = 1 and one completion more, those of the kind
        "groups of one" have G = 1.
      kinds: the kinds of batches, in their order.
    """
    numbers = {MANY: (prompts * 3, group_size), ONE_GROUP: (1, group_size + 1), ALONE: (prompts, 1)}
    numbers |= {ONE_UNLIKE: (prompts, 8), EQUAL: (prompts, 7)}
    for index, (padding, kind) in enumerate(itertools.cycle(itertools.product(PADDINGS, kinds))):
        rng = np.random.default_rng([seed, index])
        yield _trial(rng, recipe, kind, padding, *numbers.get(kind, (prompts, group_size)))


def _trial(
    rng: np.random.Generator, recipe: Recipe, kind: str, padding: str, prompts: int, group_size: int
) -> Trial:
    """Generate one batch."""
    # The mask: completions of different lengths, the first one of full length.
    rows, tokens = prompts * group_size, int(rng.integers(2, 7))
    lengths = rng.integers(1, tokens + 1, rows)
    lengths[0] = tokens
    if kind == EMPTY:
        lengths[-1] = 0
    if kind == ONE_LEFT:
        lengths[1:] = 0
    if kind == NO_TOKEN:
        lengths[:] = 0
    if kind == WIDE:
        tokens += 2
    places = np.arange(tokens)
    mask = places < lengths[:, None]
    if kind == HOLED:  # keep the first and the last token, and drop the middle of most completions
        mask &= (places == 0) | (places == lengths[:, None] - 1) | (rng.random((rows, 1)) < 0.3)

    # Log-probabilities of the policy and, near them, of the old policy, the reference and the sampler.
    spread = 3.0 if kind == "extreme ratios" else 0.3
    log_probs = np.log(rng.uniform(0.05, 0.9, mask.shape))
    old, ref, rollout = (
        np.minimum(log_probs + spread * rng.normal(size=mask.shape), -1e-3) for _ in range(3)
    )
    if kind == "on policy":
        old = log_probs.copy()

    # Few different rewards, so that groups have ties; close together, eps in the advantages shows.
    rewards = rng.integers(0, 3, (prompts, group_size)).astype(float)
    if kind == DEAD:
        rewards[0] = 1.0
    if kind == CLOSE:
        rewards = 0.5 + 0.01 * rewards
    if kind in ROUNDED_KINDS:
        rewards[0] = 0.35
    if kind == ONE_UNLIKE:
        rewards[0, 0] = 0.95

    # Drawn last: the random numbers of the other arrays do not depend on the teacher's.
    teacher = np.minimum(log_probs + spread * rng.normal(size=mask.shape), -1e-3)

    fill = PADDINGS[padding]
    return Trial(
        kind=f"{kind}, {padding}",
        log_probs=np.where(mask, log_probs, fill),
        old_log_probs=np.where(mask, old, fill),
        ref_log_probs=np.where(mask, ref, fill),
        rollout_log_probs=np.where(mask, rollout, fill),
        teacher_log_probs=np.where(mask, teacher, fill),
        advantages=advantages_of(recipe, rewards),
        mask=mask.astype(float),
        clean=fill == 0.0,
        rewards=rewards.reshape(-1),
        group_size=group_size,
        rounding=ROUNDING if kind in ROUNDED_KINDS else 0.0,
    )


def advantages_of(recipe: Recipe, rewards: Floats) -> Floats:
    """Return (N,) advantages of (P, G) rewards: the recipe's if they need only rewards, GRPO's otherwise.

    A recipe that reads which completions are present gets all of them.
    """
    part = recipe.advantage if {*recipe.advantage.reads} <= {"rewards", "present"} else GRPO.advantage
    if rewards.shape[-1] == 1 and not is_defined_for_one(part):
        return np.zeros(rewards.size)
    advantages: Floats = part(rewards=rewards, present=np.ones_like(rewards))
    return advantages.reshape(-1)


def is_defined_for_one(part: Slot) -> bool:
    """Return whether an advantage has a value for a group of one completion.

    A sample standard deviation and a mean of the others divide by G - 1, which is 0/0 for G = 1. Trainers
    refuse such groups, or have a rule of their own, such as verl's `keep_singletons`.
    """
    if "keep_singletons" in part.settings:
        return True
    parameters = signature(part.kernel).parameters
    ddof = part.settings.get("ddof", parameters["ddof"].default if "ddof" in parameters else 0)
    return ddof == 0 and part.kernel not in (leave_one_out, ranked, best_of_group)


def in_float32(trial: Trial) -> Trial:
    """Round every number of the batch to single precision, and keep the arrays in double precision."""
    rounded: dict[str, Any] = {
        name: getattr(trial, name).astype(np.float32).astype(float) for name in ROUNDED
    }
    rewards = None if trial.rewards is None else trial.rewards.astype(np.float32).astype(float)
    # A spread of 0.01 around 0.5 loses two digits, or four as a difference of squares.
    rounding = max(trial.rounding, 0.01 if trial.kind.startswith(CLOSE) else 0.0)
    return replace(trial, rewards=rewards, rounding=rounding, **rounded)


LOG_PROBS = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs", "teacher_log_probs")
ROUNDED = (*LOG_PROBS, "advantages")
