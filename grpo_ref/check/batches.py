"""Generated batches: ragged, with empty completions, holes, extreme ratios, dead groups, strange padding."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.recipes import GRPO, Recipe

EMPTY, HOLED, DEAD = "an empty completion", "a tool's answer left out", "a group without contrast"
MANY, CLOSE = "many completions", "rewards close together"
KINDS = ("ragged", EMPTY, "extreme ratios", DEAD, "on policy", HOLED, MANY, CLOSE)
PADDINGS = {"zeros in the padding": 0.0, "garbage in the padding": -7.5, "NaN in the padding": np.nan}
"""In words -> what the padding holds."""


@dataclass(frozen=True)
class Trial:
    """One generated batch, on which a function and a recipe are both asked.

    Attributes:
      kind: what is special about it, in words.
      log_probs, old_log_probs, ref_log_probs, rollout_log_probs: (N, T) in nats.
      advantages: (N,).
      mask: (N, T) 1 on completion tokens; what a tool wrote in their midst has 0, as padding has.
      clean: whether the padding holds numbers that do no harm.
      sequence_ids: (1, L) the completion of each token, where all are packed into one row of L tokens; then
        the arrays above are (1, L), the advantages too.
      completions: how many are in that row, those without a token too.
      rewards: (N,) of which the advantages were made, the groups one after another.
      group_size: G.
    """

    kind: str
    log_probs: Floats
    old_log_probs: Floats
    ref_log_probs: Floats
    rollout_log_probs: Floats
    advantages: Floats
    mask: Floats
    clean: bool = True
    sequence_ids: Integers | None = None
    completions: int | None = None
    rewards: Floats | None = None
    group_size: int = 3

    @property
    def flaws(self) -> frozenset[str]:
        """What a careful trainer might keep away from its loss, in words, as in "right unless ..."."""
        counted = self.mask > 0
        padding = self.log_probs[~counted]
        found = {
            NAN: bool(np.isnan(padding).any()),
            GARBAGE: bool((np.isfinite(padding) & (padding != 0.0)).any()),
            NOTHING: self.completions is None and bool((~counted.any(-1)).any()),
            HOLE: bool((np.diff(counted.astype(int)) > 0).any()),
            ALIKE: self.rewards is not None and _has_dead_group(self.rewards, self.group_size),
        }
        return frozenset(text for text, there in found.items() if there)


NAN, GARBAGE = "the padding holds NaN", "the padding holds other numbers than 0"
NOTHING, HOLE = "a completion is empty", "the mask has a hole"
ALIKE = "all rewards of a group are equal"


def _has_dead_group(rewards: Floats, group_size: int) -> bool:
    return bool((np.ptp(rewards.reshape(-1, group_size), axis=-1) == 0.0).any())


def trials(recipe: Recipe, seed: int, *, prompts: int = 2, group_size: int = 3) -> Iterator[Trial]:
    """Endless batches, every kind with every padding in turn; one kind has three times the prompts.

    Args:
      recipe: whose advantages are used where they are one per completion; GRPO's otherwise.
      seed: of the random numbers.
      prompts, group_size: P and G; N = P G.
    """
    for index, (padding, kind) in enumerate(itertools.cycle(itertools.product(PADDINGS, KINDS))):
        yield _trial(np.random.default_rng([seed, index]), recipe, kind, padding, prompts, group_size)


def _trial(
    rng: np.random.Generator, recipe: Recipe, kind: str, padding: str, prompts: int, group_size: int
) -> Trial:
    prompts = prompts * 3 if kind == MANY else prompts
    mask = _mask(rng, kind, prompts * group_size)
    log_probs, *others = _log_probs(rng, kind, mask)
    rewards = rng.integers(0, 3, (prompts, group_size)).astype(float)
    if kind == DEAD:
        rewards[0] = 1.0
    if kind == CLOSE:
        rewards = 0.5 + 0.01 * rewards
    arrays = [np.where(mask > 0, array, PADDINGS[padding]) for array in (log_probs, *others)]
    return Trial(
        kind=f"{kind}, {padding}",
        log_probs=arrays[0],
        old_log_probs=arrays[1],
        ref_log_probs=arrays[2],
        rollout_log_probs=arrays[3],
        advantages=advantages_of(recipe, rewards),
        mask=mask,
        clean=PADDINGS[padding] == 0.0,
        rewards=rewards.reshape(-1),
        group_size=group_size,
    )


def _mask(rng: np.random.Generator, kind: str, rows: int) -> Floats:
    """(N, T) ragged completions, the first of full length; with a tool, without a stretch of its middle."""
    tokens = int(rng.integers(2, 7))
    lengths = rng.integers(1, tokens + 1, rows)
    lengths[0] = tokens
    if kind == EMPTY:
        lengths[-1] = 0
    places = np.arange(tokens)
    mask = places < lengths[:, None]
    if kind == HOLED:
        mask &= (places == 0) | (places == lengths[:, None] - 1) | (rng.random((rows, 1)) < 0.3)
    return mask.astype(float)


def _log_probs(rng: np.random.Generator, kind: str, mask: Floats) -> list[Floats]:
    """Those of the policy, and around them those of the old policy, the reference and the sampler."""
    spread = 3.0 if kind == "extreme ratios" else 0.3
    log_probs = np.log(rng.uniform(0.05, 0.9, mask.shape))
    others = [np.minimum(log_probs + spread * rng.normal(size=mask.shape), -1e-3) for _ in range(3)]
    if kind == "on policy":
        others[0] = log_probs.copy()
    return [log_probs, *others]


def advantages_of(recipe: Recipe, rewards: Floats) -> Floats:
    """(N,) advantages of (P, G) rewards, as the recipe has them if it makes them of rewards alone."""
    part = recipe.advantage if recipe.advantage.reads == ("rewards",) else GRPO.advantage
    advantages: Floats = part.kernel(rewards, **part.settings)
    return advantages.reshape(-1)


def in_float32(trial: Trial) -> Trial:
    """The batch with every number rounded to single precision, still held in double."""
    rounded: dict[str, Any] = {
        name: getattr(trial, name).astype(np.float32).astype(float) for name in ROUNDED
    }
    rewards = None if trial.rewards is None else trial.rewards.astype(np.float32).astype(float)
    return replace(trial, rewards=rewards, **rounded)


ROUNDED = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs", "advantages")
