"""Generate batches that distinguish implementations.

Completions have different lengths, and one may be empty. The mask may have holes, ratios may be extreme, the
rewards of a group may be equal, and the padding may hold 0, other numbers or NaN.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.recipes import GRPO, Recipe

EMPTY, HOLED, DEAD = "an empty completion", "a tool's output masked out", "a group with equal rewards"
MANY, CLOSE = "many completions", "rewards close together"
KINDS = ("ragged", EMPTY, "extreme ratios", DEAD, "on policy", HOLED, MANY, CLOSE)
PADDINGS = {"zeros in the padding": 0.0, "garbage in the padding": -7.5, "NaN in the padding": np.nan}
"""Description -> the number that fills the padding."""


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

    @property
    def flaws(self) -> frozenset[str]:
        """Features of the batch that a trainer may rule out, worded to follow "right unless"."""
        counted = self.mask > 0
        padding = self.log_probs[~counted]
        features = {
            NAN: bool(np.isnan(padding).any()),
            GARBAGE: bool((np.isfinite(padding) & (padding != 0.0)).any()),
            NOTHING: self.completions is None and bool((~counted.any(-1)).any()),
            HOLE: bool((np.diff(counted.astype(int)) > 0).any()),
            ALIKE: self.rewards is not None
            and bool((np.ptp(self.rewards.reshape(-1, self.group_size), axis=-1) == 0.0).any()),
        }
        return frozenset(text for text, present in features.items() if present)


NAN, GARBAGE = "the padding holds NaN", "the padding holds other numbers than 0"
NOTHING, HOLE = "a completion is empty", "the mask has a hole"
ALIKE = "all rewards of a group are equal"


def trials(recipe: Recipe, seed: int, *, prompts: int = 2, group_size: int = 3) -> Iterator[Trial]:
    """Generate batches without end: each kind with each padding in turn, then again with other numbers.

    Args:
      recipe: recipe whose advantages are used if they are computed from rewards alone; GRPO's otherwise.
      seed: seed of the random numbers.
      prompts, group_size: P and G; N = P G. Batches of the kind "many completions" have three times as many
        prompts.
    """
    for index, (padding, kind) in enumerate(itertools.cycle(itertools.product(PADDINGS, KINDS))):
        rng = np.random.default_rng([seed, index])
        yield _trial(rng, recipe, kind, padding, prompts * 3 if kind == MANY else prompts, group_size)


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
    )


def advantages_of(recipe: Recipe, rewards: Floats) -> Floats:
    """Return (N,) advantages of (P, G) rewards: the recipe's if they need only rewards, GRPO's otherwise."""
    part = recipe.advantage if recipe.advantage.reads == ("rewards",) else GRPO.advantage
    advantages: Floats = part.kernel(rewards, **part.settings)
    return advantages.reshape(-1)


def in_float32(trial: Trial) -> Trial:
    """Round every number of the batch to single precision, and keep the arrays in double precision."""
    rounded: dict[str, Any] = {
        name: getattr(trial, name).astype(np.float32).astype(float) for name in ROUNDED
    }
    rewards = None if trial.rewards is None else trial.rewards.astype(np.float32).astype(float)
    return replace(trial, rewards=rewards, **rounded)


LOG_PROBS = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs", "teacher_log_probs")
ROUNDED = (*LOG_PROBS, "advantages")
