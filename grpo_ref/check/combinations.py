"""Find several mistakes at once, without evaluating every combination of them.

A loss is a sum over the tokens, and a mistake changes one factor of it:

    loss = -Σ W S(A) + kl_coef Σ V K

W are the weights, S the surrogate, A the advantages, V and K the weights and values of the penalty. Many
surrogates are homogeneous in the advantage: S(A) = max(A, 0) S(1) + max(-A, 0) S(-1). So each change is
evaluated once per batch, and the losses of all combinations are products of small matrices. A few batches
without special features decide which combinations are worth a full comparison. The weight of the penalty and
a constant factor are unknowns: one batch determines them, and the others confirm them.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.check.batches import Trial
from grpo_ref.check.changes import Change, unchanged
from grpo_ref.levels import token_level
from grpo_ref.loss import batch_of, differentiate
from grpo_ref.recipes import Recipe

WEIGHTS = frozenset({"aggregate", "mask"})
ADVANTAGES = frozenset({"advantages", "sign", "order"})
PENALTY = frozenset({"kl_coef", "penalty", "penalty_aggregate", "ref_log_probs"})
TOLERANCE = 1e-6
"""Tolerance of the products, relative to the sum of the magnitudes of the loss's terms."""


MOST = 200
"""Largest number of combinations that are compared on all batches."""
NOTHING = Change("", unchanged, frozenset())


class Combination(NamedTuple):
    """Changes whose losses are those of the function on a few batches.

    Attributes:
      changes: the changes, in the order in which they are applied.
      factor: constant factor on the loss.
      kl_coef: weight of the penalty, or None if it is not fitted.
    """

    changes: tuple[Change, ...]
    factor: float = 1.0
    kl_coef: float | None = None


class _Terms(NamedTuple):
    """The factors of the loss of one batch under one change, (N T,) each.

    Attributes:
      weights: W.
      gain: S.
      penalty: K, the value of the penalty.
      penalty_weights: V, or None where V is W.
      kl_coef: weight of the penalty.
    """

    weights: Floats
    gain: Floats
    penalty: Floats
    penalty_weights: Floats | None
    kl_coef: float


class _Table(NamedTuple):
    """The factors of the loss on one batch under all changes; the first entry of each is that of no change.

    Attributes:
      weights: (weights, N T).
      gains: (surrogates, 2, N T) for advantages of 1 and of -1.
      advantages: (advantages, 2 N) their positive and negative parts.
      own: (weights, surrogates) kl_coef Σ V K under each change of the surrogate.
      penalties: (weights, penalties) kl_coef Σ V K under each change of the penalty.
    """

    weights: Floats
    gains: Floats
    advantages: Floats
    own: Floats
    penalties: Floats


class Search:
    """The changes sorted by the factor of the loss that they touch, and their values on a few batches."""

    def __init__(
        self,
        recipe: Recipe,
        known: Sequence[Change],
        more: Sequence[Change],
        trials: Sequence[Trial],
        losses: Sequence[float],
        scales: Sequence[float],
        max_length: int | None,
    ) -> None:
        """Evaluate each change once on each batch.

        Args:
          recipe: the recipe.
          known: the changes to combine. A change that touches two factors of the loss is combined with few
            others.
          more: changes to combine, except a wrong average with a wrong mask.
          trials: a few batches without special features.
          losses: the function's loss on each of them.
          scales: absolute tolerance on each of them.
          max_length: the generation budget in tokens, or None.
        """
        self.recipe, self.trials, self.max_length = recipe, trials, max_length
        self.losses, self.scales = np.array(losses), np.array(scales)
        usual = [change for change in (*known, *more) if not change.touches & {"floor", "gradient"}]
        self.weights = [NOTHING, *(c for c in usual if c.touches <= WEIGHTS)]
        self.advantages = [NOTHING, *(c for c in usual if c.touches <= ADVANTAGES)]
        self.penalties = (
            [NOTHING, *(c for c in usual if c.touches <= PENALTY)] if recipe.kl_coef else [NOTHING]
        )
        self.gains = [
            NOTHING,
            *(c for c in usual if not c.touches & (WEIGHTS | ADVANTAGES) and not c.touches <= PENALTY),
        ]
        # A wrong mask and a wrong average together are one entry of the weights that counts as two changes.
        masks = [c for c in self.weights if c.touches == {"mask"}]
        averages = [c for c in known if c.touches == {"aggregate"}]
        self.sizes = [min(index, 1) for index in range(len(self.weights))] + [2] * len(masks) * len(averages)
        self.weights += [average.and_then(mask) for average in averages for mask in masks]
        self.fits = [
            self._terms(change, trials[0]).kl_coef == recipe.kl_coef != 0.0 for change in self.penalties
        ]
        self.tables = [self._table(trial) for trial in trials]
        self._lists: dict[int, list[Combination]] = {}

    def combinations(self, number: int) -> list[Combination]:
        """Return the combinations of this many changes with which the few batches agree, at most `MOST`.

        A fitted weight of the penalty and a constant factor count as one change each.
        """
        if number not in self._lists:
            self._lists[number] = list(itertools.islice(self._combinations(number), MOST))
        return self._lists[number]

    def _combinations(self, number: int) -> Iterator[Combination]:
        for a, size in enumerate(self.sizes):
            surrogates = [self._surrogate(a, left) for left in range(number - size + 1)]
            for c in range(len(self.penalties)):
                left = number - size - (c > 0)
                for (b, j), losses in surrogates[left] if left >= 0 else ():
                    penalty = self._penalty(a, b, c)
                    for k in self._agreeing(losses + penalty):
                        yield self._combination(a, b[k], c, j[k])
                for (b, j), losses in surrogates[left - 1] if left >= 1 else ():
                    penalty = self._penalty(a, b, c)
                    for k, factor in self._factored(losses + penalty):
                        yield self._combination(a, b[k], c, j[k], factor=factor)
                    if self.fits[c]:
                        for k, weight in self._fitted(losses, penalty / self.recipe.kl_coef):
                            yield self._combination(a, b[k], c, j[k], kl_coef=weight)

    def _combination(self, a: int, b: int, c: int, j: int, **more: float) -> Combination:
        chosen = (self.gains[b], self.advantages[j], self.penalties[c], self.weights[a])
        return Combination(tuple(change for change in chosen if change is not NOTHING), **more)

    def _surrogate(self, a: int, number: int) -> list[tuple[tuple[Integers, Integers], Floats]]:
        """Return -Σ W S(A) for all surrogates and advantages that are 0, 1 or 2 changes together.

        Each entry has the indices of surrogates and advantages, and the losses (batches, combinations).
        """
        gains, advantages = len(self.gains), len(self.advantages)
        chosen = {
            0: [(slice(0, 1), slice(0, 1))],
            1: [(slice(1, gains), slice(0, 1)), (slice(0, 1), slice(1, advantages))],
            2: [(slice(1, gains), slice(1, advantages))],
        }.get(number, [])
        entries = []
        for b, j in chosen:
            losses = []
            for table in self.tables:
                rows = table.advantages.shape[1]
                weighted = (table.gains[b] * table.weights[a]).reshape(
                    -1, rows, table.weights.shape[1] * 2 // rows
                )
                with np.errstate(all="ignore"):  # a change that refuses a batch is NaN there
                    losses.append(-(weighted.sum(-1) @ table.advantages[j].T).reshape(-1))
            indices = np.meshgrid(np.arange(gains)[b], np.arange(advantages)[j], indexing="ij")
            entries.append(((indices[0].reshape(-1), indices[1].reshape(-1)), np.array(losses)))
        return entries

    def _penalty(self, a: int, b: Integers, c: int) -> Floats:
        """Return (batches, combinations) kl_coef Σ V K: the penalty's own change, or else the surrogate's."""
        if c:
            return np.array([[table.penalties[a, c]] for table in self.tables]) + np.zeros(len(b))
        return np.array([table.own[a, b] for table in self.tables])

    def _agreeing(self, losses: Floats) -> Integers:
        with np.errstate(all="ignore"):
            apart = np.abs(losses - self.losses[:, None]) <= self.scales[:, None]
        hits: Integers = np.flatnonzero(apart.all(axis=0))
        return hits

    def _factored(self, losses: Floats) -> Iterator[tuple[int, float]]:
        """Yield the combinations that agree after multiplication by a constant, with the constant."""
        with np.errstate(all="ignore"):
            factors = self.losses[0] / losses[0]
            factors[np.abs(losses[0]) < 1e-6] = np.nan
            hits = self._agreeing(losses * factors)
        for k in hits:
            if not np.isclose(factors[k], 1.0) and abs(factors[k]) > 1e-6:
                yield int(k), rounded(float(factors[k]))

    def _fitted(self, surrogate: Floats, unit: Floats) -> Iterator[tuple[int, float]]:
        """Yield the combinations that agree with another weight of the penalty, with this weight."""
        with np.errstate(all="ignore"):
            weights = (self.losses[0] - surrogate[0]) / unit[0]
            weights[np.abs(unit[0]) < 1e-6] = np.nan
            hits = self._agreeing(surrogate + unit * weights)
        for k in hits:
            if not np.isclose(weights[k], self.recipe.kl_coef) and abs(weights[k]) > 1e-9:
                yield int(k), rounded(float(weights[k]))

    def _table(self, trial: Trial) -> _Table:
        """Evaluate all changes on one batch."""
        signs = [replace(trial, advantages=np.full(len(trial.mask), sign)) for sign in (1.0, -1.0)]
        advantages = []
        for change in self.advantages:
            with np.errstate(all="ignore"):
                made = change.apply(self.recipe, trial)[1].advantages
            advantages.append(np.concatenate([np.maximum(made, 0.0), np.maximum(-made, 0.0)]))
        weights = np.array([self._weights(change, trial) for change in self.weights])
        signed = [[self._terms(change, each) for each in signs] for change in self.gains]
        return _Table(
            weights,
            np.array([[each.gain for each in pair] for pair in signed]),
            np.array(advantages),
            np.stack([_penalty_of(pair[0], weights) for pair in signed], axis=1),
            np.stack([_penalty_of(self._terms(change, trial), weights) for change in self.penalties], axis=1),
        )

    def _weights(self, change: Change, trial: Trial) -> Floats:
        """Return (N T,) the weights under a change; most of them depend on the mask alone."""
        with np.errstate(all="ignore"):
            recipe, changed = change.apply(self.recipe, trial)
            if "correction" in recipe.aggregate.reads:
                return _factors(recipe, changed, self.max_length).weights
            weights = recipe.weights(changed.mask[None], max_length=self.max_length)
        return np.broadcast_to(np.asarray(weights, dtype=float), (1, *trial.mask.shape)).reshape(-1)

    def _terms(self, change: Change, trial: Trial) -> _Terms:
        """Return the factors of the loss under a change, NaN if the change refuses the batch."""
        try:
            with np.errstate(all="ignore"):
                return _factors(*change.apply(self.recipe, trial), self.max_length)
        except ValueError:
            nan = np.full(trial.mask.size, np.nan)
            return _Terms(nan, nan, nan, None, np.nan)


def rounded(value: float) -> float:
    """Round to six digits: the number was probably written by hand."""
    return float(f"{value:.6g}")


def _penalty_of(terms: _Terms, weights: Floats) -> Floats:
    """Return (weights,) kl_coef Σ V K."""
    if not terms.kl_coef:
        return np.zeros(len(weights))
    apart = weights if terms.penalty_weights is None else terms.penalty_weights[None]
    sums: Floats = terms.kl_coef * (apart * terms.penalty).sum(-1)
    return sums + np.zeros(len(weights))


def _factors(recipe: Recipe, trial: Trial, max_length: int | None) -> _Terms:
    """Return the factors of the loss of a changed recipe on a changed batch.

    A wrong mask may count the padding. So the surrogate is evaluated there too, unless it reads the mask.
    """
    reads_mask = recipe.level is not token_level or "mask" in recipe.surrogate.reads or recipe.corrections
    mask = trial.mask if reads_mask else np.ones_like(trial.mask)
    group = (1, *trial.mask.shape)
    names = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs")
    batch = batch_of(
        **{name: getattr(trial, name).reshape(group) for name in names},
        advantages=trial.advantages.reshape(1, -1),
        mask=mask.reshape(group),
        max_length=max_length,
    )
    result = differentiate(batch, recipe)
    counted = replace(result.batch, mask=trial.mask.reshape(group))
    applies = recipe.corrections and "correction" not in recipe.surrogate.reads
    zeros = np.zeros(group)
    apart = recipe.penalty_aggregate(counted) + zeros if recipe.penalty_aggregate and recipe.kl_coef else None
    return _Terms(
        (recipe.aggregate(counted) + zeros).reshape(-1),
        (result.gain.value * (result.batch.correction if applies else 1.0) + zeros).reshape(-1),
        (result.penalty.value + zeros).reshape(-1),
        None if apart is None else apart.reshape(-1),
        float(recipe.kl_coef),
    )
