"""Find the smallest batch that still shows a mistake: fewer completions, fewer tokens, rounder numbers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.batches import LOG_PROBS, ROUNDED, Trial

STEPS = 400
"""Maximum number of batches to try."""


def shrunk(
    trial: Trial, fails: Callable[[Trial], bool], advantages: Callable[[Floats], Floats] | None = None
) -> Trial:
    """Simplify a failing batch step by step, as long as it still fails.

    This is a greedy search: the first simpler batch that fails replaces the batch, and the search starts
    again from there.

    Args:
      trial: a failing batch.
      fails: returns true if a batch fails.
      advantages: (P, G) rewards -> (N,) advantages, if the function computes the advantages itself. Then
        whole groups are removed, and rewards are rounded instead of advantages.

    Returns:
      A failing batch. No simpler batch that was tried fails.
    """
    left = STEPS
    while left > 0:
        for candidate in _simpler(trial, advantages):
            left -= 1
            if left < 0 or (candidate.mask.any() >= trial.mask.any() and fails(candidate)):
                break
        else:
            return trial
        trial = trial if left < 0 else candidate
    return trial


def _simpler(trial: Trial, advantages: Callable[[Floats], Floats] | None) -> Iterator[Trial]:
    """Generate batches that are one step simpler, the largest steps first."""
    yield from _fewer_completions(trial, advantages is not None)
    yield from _fewer_tokens(trial)
    yield from _rounder(trial)
    yield from _rounder_advantages(trial) if advantages is None else _rounder_rewards(trial, advantages)


def _fewer_completions(trial: Trial, by_group: bool) -> Iterator[Trial]:
    """Generate batches with one completion less, or with one group less."""
    rows, step = len(trial.mask), trial.group_size if by_group else 1
    for start in reversed(range(0, rows, step)) if rows > step else ():
        kept = np.delete(np.arange(rows), slice(start, start + step))
        arrays: dict[str, Any] = {name: getattr(trial, name)[kept] for name in (*ROUNDED, "mask")}
        rewards = None if trial.rewards is None or not by_group else trial.rewards[kept]
        yield replace(trial, **arrays, rewards=rewards)


def _fewer_tokens(trial: Trial) -> Iterator[Trial]:
    """Generate batches without one position, or without the last token of one completion."""
    rows, places = trial.mask.shape
    names = (*LOG_PROBS, "mask")
    for place in reversed(range(places)) if places > 1 else ():
        shorter: dict[str, Any] = {name: np.delete(getattr(trial, name), place, axis=1) for name in names}
        yield replace(trial, **shorter)
    for row in range(rows):
        if (counted := np.flatnonzero(trial.mask[row])).size > 1:
            arrays: dict[str, Any] = {name: getattr(trial, name).copy() for name in names}
            for array in arrays.values():
                array[row, counted[-1]] = 0.0
            yield replace(trial, **arrays)


def _rounder(trial: Trial) -> Iterator[Trial]:
    """Generate batches whose log-probabilities equal the policy's or have fewer digits.

    Arrays that are equal are rounded together, so that they stay equal.
    """
    for name in LOG_PROBS[1:]:
        if not _equal(getattr(trial, name), trial.log_probs):
            equal: dict[str, Any] = {name: trial.log_probs.copy()}
            yield replace(trial, **equal)
    alike = [
        tuple(other for other in LOG_PROBS if _equal(getattr(trial, other), getattr(trial, name)))
        for name in LOG_PROBS
    ]
    if (simple := cleared(trial)) is not trial:
        yield simple
    for digits in (0, 1, 2):
        for names in (LOG_PROBS, *dict.fromkeys(alike)):
            if any(_digits(trial, name) > digits for name in names):
                rounded: dict[str, Any] = {name: _rounded(trial, name, digits) for name in names}
                yield replace(trial, **rounded)


def cleared(trial: Trial) -> Trial:
    """Return the batch with zeros in the padding, or the batch itself if there are zeros already."""
    arrays: dict[str, Any] = {name: np.where(trial.mask > 0, getattr(trial, name), 0.0) for name in LOG_PROBS}
    same = all(_equal(array, getattr(trial, name)) for name, array in arrays.items())
    return trial if same else replace(trial, **arrays)


def _equal(first: Floats, second: Floats) -> bool:
    return np.array_equal(first, second, equal_nan=True)


def _rounded(trial: Trial, name: str, digits: int) -> Floats:
    """Round log-probabilities to a number of decimals, keeping them below 0 and the padding unchanged."""
    array = getattr(trial, name)
    rounded: Floats = np.minimum(np.round(array, digits), -(10.0**-digits))
    return np.where(trial.mask > 0, rounded, array)


def _digits(trial: Trial, name: str) -> int:
    """Return the number of decimals of an array's unmasked entries, at most 3."""
    array = getattr(trial, name)[trial.mask > 0]
    return next((d for d in (0, 1, 2) if np.allclose(np.round(array, d), array, rtol=0.0, atol=1e-12)), 3)


def _rounder_advantages(trial: Trial) -> Iterator[Trial]:
    """Generate batches with advantages of 1 and -1, or with fewer digits."""
    given = trial.advantages
    for simple in (np.ones_like(given), np.sign(given), np.round(given), np.round(given, 1)):
        if not np.array_equal(simple, given) and _complexity(simple) < _complexity(given):
            yield replace(trial, advantages=simple, rewards=None)


def _complexity(array: Floats) -> tuple[int, int]:
    """Return the number of decimals, and a count in which 1 costs 0, -1 costs 1 and other entries cost 2."""
    digits = next((d for d in (0, 1) if np.allclose(np.round(array, d), array, atol=1e-12)), 2)
    return digits, int((array != 1.0).sum() + (np.abs(array) != 1.0).sum())


def _rounder_rewards(trial: Trial, advantages: Callable[[Floats], Floats]) -> Iterator[Trial]:
    """Generate batches with rewards of 0 and 1, or with fewer digits, and the advantages of these rewards."""
    given = np.zeros_like(trial.advantages) if trial.rewards is None else trial.rewards
    for simple in ((given == given.max()).astype(float), np.round(given, 1)):
        if _complexity(simple) < _complexity(given) and not np.array_equal(simple, given):
            made = advantages(simple.reshape(-1, trial.group_size))
            yield replace(trial, rewards=simple, advantages=made)
