"""Numbers that a loss function has in place of the recipe's: the penalty's weight, settings of the clip."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.mistakes.slips import PENALTIES
from grpo_ref.check.reference import reference
from grpo_ref.recipes import Recipe, Slot

GRID = (
    *(0.0, 1e-4, 3e-4, 4e-4, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    *(0.7, 0.9, 0.99, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0),
)
"""Between which neighbours a setting is looked for; a value that the kernel refuses is passed over."""
LOWS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 3e-4, 3e-3)
"""Values of clip_low that are tried where both half-widths are other ones."""
TRIED = 4
"""On so many batches."""


def fitted_penalties(
    recipe: Recipe,
    trials: Sequence[Trial],
    answers: Sequence[Answer],
    max_length: int | None,
    *,
    estimates: Mapping[str, Slot] = PENALTIES,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Weights of the penalty that explain all losses, (condition, parts).

    The loss is a straight line in kl_coef, so two answers of the recipe give the weight on every batch. Tried
    are the recipe's own estimate and the other estimates, by their conditions.
    """
    others = {"": recipe.penalty} | {f" and {text}": part for text, part in estimates.items()}
    told = []
    for text, part in others.items():
        if part in told:
            continue
        told.append(part)
        weight = _weight(replace(recipe, penalty=part), trials, answers, max_length)
        if weight is not None and not np.isclose(weight, recipe.kl_coef):
            yield _told(recipe, weight) + text, {"kl_coef": weight, "penalty": part}


def _told(recipe: Recipe, weight: float) -> str:
    if recipe.kl_coef and np.isclose(weight, -recipe.kl_coef):
        return "the sign of the KL penalty is turned over"
    if recipe.kl_coef == 0.0:
        return f"there is a KL penalty, of kl_coef {weight:.6g}"
    return f"kl_coef is {weight:.6g}, not {recipe.kl_coef:g}"


def _weight(
    recipe: Recipe, trials: Sequence[Trial], answers: Sequence[Answer], max_length: int | None
) -> float | None:
    """The weight that explains every loss, if there is one."""
    none, one = (replace(recipe, kl_coef=weight) for weight in (0.0, 1.0))
    found = []
    for trial, answer in zip(trials, answers, strict=True):
        base = reference(none, trial, max_length).loss
        penalty = reference(one, trial, max_length).loss - base
        if abs(penalty) > 1e-6:
            found.append((answer.loss - base) / penalty)
        if len(found) > 1 and not np.isclose(found[-1], found[0], rtol=1e-3, atol=1e-6):
            return None
    return _rounded(float(np.median(found))) if found else None


def fitted_settings(
    recipe: Recipe, trials: Sequence[Trial], answers: Sequence[Answer], max_length: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings of the surrogate with which a loss agrees that did not, (condition, parts)."""
    settings = _numbers(recipe.surrogate)
    farthest = sorted(range(len(trials)), key=lambda place: -_distance(trials[place]))[:TRIED]
    given = ([trials[place] for place in farthest], [answers[place] for place in farthest], max_length)
    for name in settings:
        for value in _values(recipe, (name,), *given):
            yield _setting(recipe.surrogate, {name: value})
    if {"clip_low", "clip_high"} <= settings.keys():
        for value in _values(recipe, ("clip_low", "clip_high"), *given):
            yield _setting(recipe.surrogate, {"clip_low": value, "clip_high": value})
        for low in LOWS:
            narrower = replace(recipe, surrogate=_with(recipe.surrogate, ("clip_low",), low))
            for value in _values(narrower, ("clip_high",), *given):
                yield _setting(recipe.surrogate, {"clip_low": low, "clip_high": value})


def _distance(trial: Trial) -> float:
    """The largest log-ratio of a batch, on whichever side."""
    return float(np.where(trial.mask > 0, np.abs(trial.log_probs - trial.old_log_probs), 0.0).max())


def _setting(part: Slot, values: dict[str, float]) -> tuple[str, dict[str, Any]]:
    """A condition and the surrogate with these values."""
    settings = _numbers(part)
    changed = [
        f"{name} is {value:.6g}, not {settings[name]:g}"
        for name, value in values.items()
        if value != settings[name]
    ]
    return " and ".join(changed), {"surrogate": Slot(part.kernel, {**part.settings, **values})}


def _numbers(part: Slot) -> dict[str, float]:
    parameters = signature(part.kernel).parameters.values()
    settings = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    settings |= part.settings
    return {name: float(value) for name, value in settings.items() if type(value) in (int, float)}


def _with(part: Slot, names: tuple[str, ...], value: float) -> Slot:
    return Slot(part.kernel, {**part.settings, **dict.fromkeys(names, value)})


def _values(
    recipe: Recipe,
    names: tuple[str, ...],
    trials: Sequence[Trial],
    answers: Sequence[Answer],
    max_length: int | None,
) -> Iterator[float]:
    """Where the recipe's loss crosses the one that was answered; each value once."""
    told: set[float] = set()
    for trial, answer in zip(trials, answers, strict=True):

        def apart(value: float, trial: Trial = trial, answer: Answer = answer) -> float:
            part = _with(recipe.surrogate, names, value)
            try:
                return reference(replace(recipe, surrogate=part), trial, max_length).loss - answer.loss
            except ValueError:
                return float("nan")

        gaps = [apart(value) for value in GRID]
        for low, high, left, right in zip(GRID, GRID[1:], gaps, gaps[1:], strict=False):
            if left * right < 0.0:
                value = _rounded(_crossing(apart, low, high, left))
            elif abs(right) < 1e-12 < abs(left):
                value = high
            else:
                continue
            if value not in told:
                told.add(value)
                yield value


def _crossing(function: Callable[[float], float], low: float, high: float, left: float) -> float:
    """Where a function changes its sign, by halving."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        if function(middle) * left > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _rounded(value: float) -> float:
    """The number that somebody has written: six digits, if that is near enough."""
    return float(f"{value:.6g}")
