"""The smallest batch that still shows a mistake: fewer completions, fewer tokens, rounder numbers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.batches import ROUNDED, Trial

TOKEN_ARRAYS = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs")
STEPS = 400
"""So many batches are tried at most."""


def shrunk(
    trial: Trial, fails: Callable[[Trial], bool], advantages: Callable[[Floats], Floats] | None = None
) -> Trial:
    """Greedily make a batch smaller, as long as it fails.

    Args:
      trial: a batch that fails.
      fails: whether one does.
      advantages: (P, G) rewards -> (N,), where the function makes them itself: then whole groups are left out
        and rewards rounded. Left out, advantages are numbers like others.

    Returns:
      A batch that fails, of which no simpler one that was tried does.
    """
    left = STEPS
    while left > 0:
        for candidate in _simpler(trial, advantages):
            left -= 1
            if left < 0 or (candidate.mask.any() and fails(candidate)):
                break
        else:
            return trial
        trial = trial if left < 0 else candidate
    return trial


def _simpler(trial: Trial, advantages: Callable[[Floats], Floats] | None) -> Iterator[Trial]:
    """What is a step simpler, the greatest steps first."""
    yield from _fewer_completions(trial, advantages is not None)
    yield from _fewer_tokens(trial)
    yield from _rounder(trial)
    yield from _rounder_advantages(trial) if advantages is None else _rounder_rewards(trial, advantages)


def _fewer_completions(trial: Trial, by_group: bool) -> Iterator[Trial]:
    """One completion less, or one group."""
    rows, step = len(trial.mask), trial.group_size if by_group else 1
    for start in reversed(range(0, rows, step)) if rows > step else ():
        kept = np.delete(np.arange(rows), slice(start, start + step))
        arrays: dict[str, Any] = {name: getattr(trial, name)[kept] for name in (*ROUNDED, "mask")}
        rewards = None if trial.rewards is None or not by_group else trial.rewards[kept]
        yield replace(trial, **arrays, rewards=rewards)


def _fewer_tokens(trial: Trial) -> Iterator[Trial]:
    """One position less for all, or the last token of a completion."""
    rows, places = trial.mask.shape
    names = (*TOKEN_ARRAYS, "mask")
    for place in reversed(range(places)) if places > 1 else ():
        yield _with(trial, {name: np.delete(getattr(trial, name), place, axis=1) for name in names})
    for row in range(rows):
        if (there := np.flatnonzero(trial.mask[row])).size > 1:
            arrays = {name: getattr(trial, name).copy() for name in names}
            for array in arrays.values():
                array[row, there[-1]] = 0.0
            yield _with(trial, arrays)


def _rounder(trial: Trial) -> Iterator[Trial]:
    """Log-probabilities that are equal to the policy's, or have fewer digits; what is equal stays so."""
    for name in TOKEN_ARRAYS[1:]:
        if not _equal(getattr(trial, name), trial.log_probs):
            yield _with(trial, {name: trial.log_probs.copy()})
    alike = [
        tuple(other for other in TOKEN_ARRAYS if _equal(getattr(trial, other), getattr(trial, name)))
        for name in TOKEN_ARRAYS
    ]
    if (simple := cleared(trial)) is not trial:
        yield simple
    for digits in (0, 1, 2):
        for names in (TOKEN_ARRAYS, *dict.fromkeys(alike)):
            if any(_digits(trial, name) > digits for name in names):
                yield _with(trial, {name: _rounded(trial, name, digits) for name in names})


def _with(trial: Trial, arrays: dict[str, Any]) -> Trial:
    return replace(trial, **arrays)


def cleared(trial: Trial) -> Trial:
    """The same with zeros in the padding, if there are none yet."""
    arrays = {name: np.where(trial.mask > 0, getattr(trial, name), 0.0) for name in TOKEN_ARRAYS}
    same = all(_equal(array, getattr(trial, name)) for name, array in arrays.items())
    return trial if same else _with(trial, arrays)


def _equal(first: Floats, second: Floats) -> bool:
    return np.array_equal(first, second, equal_nan=True)


def _rounded(trial: Trial, name: str, digits: int) -> Floats:
    """Log-probabilities of so many decimals, below 0; the padding stays."""
    array = getattr(trial, name)
    rounded: Floats = np.minimum(np.round(array, digits), -(10.0**-digits))
    return np.where(trial.mask > 0, rounded, array)


def _digits(trial: Trial, name: str) -> int:
    """How many decimals an array has in its tokens, up to 3."""
    array = getattr(trial, name)[trial.mask > 0]
    return next((d for d in (0, 1, 2) if np.allclose(np.round(array, d), array, rtol=0.0, atol=1e-12)), 3)


def _rounder_advantages(trial: Trial) -> Iterator[Trial]:
    """Advantages of 1 and -1, or of fewer digits."""
    given = trial.advantages
    for simple in (np.ones_like(given), np.sign(given), np.round(given), np.round(given, 1)):
        if not np.array_equal(simple, given) and _complexity(simple) < _complexity(given):
            yield replace(trial, advantages=simple, rewards=None)


def _complexity(array: Floats) -> tuple[int, int]:
    """How many digits, and how many entries that are not 1."""
    digits = next((d for d in (0, 1) if np.allclose(np.round(array, d), array, atol=1e-12)), 2)
    return digits, int((array != 1.0).sum() + (np.abs(array) != 1.0).sum())


def _rounder_rewards(trial: Trial, advantages: Callable[[Floats], Floats]) -> Iterator[Trial]:
    """Rewards of 0 and 1, or of fewer digits, with their advantages."""
    given = np.zeros_like(trial.advantages) if trial.rewards is None else trial.rewards
    for simple in ((given == given.max()).astype(float), np.round(given, 1)):
        if _complexity(simple) < _complexity(given) and not np.array_equal(simple, given):
            made = advantages(simple.reshape(-1, trial.group_size))
            yield replace(trial, rewards=simple, advantages=made)
