"""Estimate the numbers that a function uses instead of the recipe's: the KL weight, settings of the clip."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from grpo_ref.check.batches import Trial
from grpo_ref.check.changes import SIDES, Change, cooled
from grpo_ref.check.combinations import rounded
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.mistakes.recipes import PENALTIES
from grpo_ref.check.reference import reference
from grpo_ref.recipes import Recipe, Slot

GRID = (
    *(0.0, 1e-4, 3e-4, 4e-4, 1e-3, 3e-3, 0.01, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    *(0.7, 0.9, 0.99, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0),
)
"""Values between which a setting is searched. A value that the kernel refuses is skipped."""
CLIP_LOWS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 3e-4, 3e-3)
"""Values of clip_low to try when both half-widths may differ from the recipe's."""
CLIP_HIGHS = (*CLIP_LOWS, 0.22, 0.24, 0.26, 0.27, 0.272, 0.28, 0.35, 0.45, 0.5, 0.6, 0.8, 1.0, 4e-4, 5e-4)
USUAL_LOWS, USUAL_HIGHS = (0.1, 0.2, 0.3), (0.1, 0.2, 0.25, 0.272, 0.28, 0.3, 0.4)
SCALES = (0.3, 0.45, 0.6, 0.75, 0.85, 0.95, 0.999, 1.001, 1.05, 1.15, 1.3, 1.5, 1.8, 2.2, 2.8, 3.5)
"""Numbers between which the factor on a log-probability is searched."""
RATIOS = (1.1, 1.25, 1.28, 8.0)
"""Values of a largest ratio that are not in the grid."""
BATCHES = 4
"""Number of batches on which settings of the surrogate are estimated."""


def fitted_penalties(
    recipe: Recipe,
    trials: Sequence[Trial],
    answers: Sequence[Answer],
    max_length: int | None,
    *,
    estimates: Mapping[str, Slot] = PENALTIES,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Generate weights of the KL penalty that explain all losses, each as (condition, changed parts).

    The loss is linear in kl_coef, so the recipe's losses at kl_coef = 0 and 1 give the weight of each batch.

    Args:
      estimates: KL estimates to try beside the recipe's own, by the condition that describes them.
    """
    penalties = {"": recipe.penalty} | {f" and {text}": part for text, part in estimates.items()}
    tried = []
    for text, part in penalties.items():
        if part in tried:
            continue
        tried.append(part)
        weight = _weight(replace(recipe, penalty=part), trials, answers, max_length)
        if weight is not None and not np.isclose(weight, recipe.kl_coef):
            yield weight_condition(recipe, weight) + text, {"kl_coef": weight, "penalty": part}


def weight_condition(recipe: Recipe, weight: float) -> str:
    """Describe another weight of the KL penalty, worded to follow "likely mistake:"."""
    if recipe.kl_coef and np.isclose(weight, -recipe.kl_coef):
        return "the KL penalty has the wrong sign"
    if recipe.kl_coef == 0.0:
        return f"there is a KL penalty, with kl_coef {weight:.6g}"
    return f"kl_coef is {weight:.6g}, not {recipe.kl_coef:g}"


def _weight(
    recipe: Recipe, trials: Sequence[Trial], answers: Sequence[Answer], max_length: int | None
) -> float | None:
    """Return the weight of the KL penalty that explains every loss, or None."""
    without, with_one = (replace(recipe, kl_coef=weight) for weight in (0.0, 1.0))
    weights = []
    for trial, answer in zip(trials, answers, strict=True):
        base = reference(without, trial, max_length).loss
        penalty = reference(with_one, trial, max_length).loss - base
        if abs(penalty) > 1e-6:  # otherwise the quotient would be rounding error
            weights.append((answer.loss - base) / penalty)
        if len(weights) > 1 and not np.isclose(weights[-1], weights[0], rtol=1e-3, atol=1e-6):
            return None
    return rounded(float(np.median(weights))) if weights else None


def fitted_settings(
    recipe: Recipe, trials: Sequence[Trial], answers: Sequence[Answer], max_length: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Generate settings of the surrogate that explain a batch's loss, each as (condition, changed parts).

    The loss is not linear in a clip range, so each setting is searched on a grid and refined by bisection.
    The batches with the largest ratios are used, since the others hardly touch the clip.
    """
    settings = _numbers(recipe.surrogate)
    largest_log_ratio = [
        float(np.where(trial.mask > 0, np.abs(trial.log_probs - trial.old_log_probs), 0.0).max())
        for trial in trials
    ]
    farthest = sorted(range(len(trials)), key=lambda index: -largest_log_ratio[index])[:BATCHES]
    given = ([trials[index] for index in farthest], [answers[index] for index in farthest], max_length)
    for name in settings:
        for value in _values(recipe, (name,), *given):
            yield _setting(recipe.surrogate, {name: value})
    if {"clip_low", "clip_high"} <= settings.keys():
        for value in _values(recipe, ("clip_low", "clip_high"), *given):
            yield _setting(recipe.surrogate, {"clip_low": value, "clip_high": value})
        for low in CLIP_LOWS:
            narrower = replace(recipe, surrogate=_with(recipe.surrogate, ("clip_low",), low))
            for value in _values(narrower, ("clip_high",), *given):
                yield _setting(recipe.surrogate, {"clip_low": low, "clip_high": value})


def usual_settings(recipe: Recipe) -> Iterator[tuple[str, dict[str, Any]]]:
    """Generate surrogates with other usual numbers, each as (condition, changed parts)."""
    settings = _numbers(recipe.surrogate)
    if {"clip_low", "clip_high"} <= settings.keys():
        right = (settings["clip_low"], settings["clip_high"])
        pairs = [(low, right[1]) for low in CLIP_LOWS] + [(right[0], high) for high in CLIP_HIGHS]
        pairs += [(low, low) for low in CLIP_LOWS] + [*itertools.product(USUAL_LOWS, USUAL_HIGHS)]
        for low, high in dict.fromkeys(pairs):
            if (low, high) != right:
                yield _setting(recipe.surrogate, {"clip_low": low, "clip_high": high})
    for name in settings.keys() - {"clip_low", "clip_high"}:
        for value in (*GRID, *RATIOS):
            if value != settings[name]:
                yield _setting(recipe.surrogate, {name: value})


def fitted_temperatures(
    recipe: Recipe, trials: Sequence[Trial], answers: Sequence[Answer], max_length: int | None
) -> Iterator[Change]:
    """Generate temperatures that explain the loss of one of the first batches, each as a change."""
    for text in SIDES:
        for trial, answer in itertools.islice(zip(trials, answers, strict=True), 2):

            def apart(scale: float, text: str = text, trial: Trial = trial, answer: Answer = answer) -> float:
                return reference(*cooled(text, scale).apply(recipe, trial), max_length).loss - answer.loss

            for scale in _roots(apart, SCALES):
                if not np.isclose(scale, 1.0):
                    yield cooled(text, 1.0 / float(f"{1.0 / scale:.4g}"))
                    yield cooled(text, scale)


def _setting(part: Slot, values: dict[str, float]) -> tuple[str, dict[str, Any]]:
    """Return the condition that describes these values, and the surrogate that has them."""
    settings = _numbers(part)
    changed = [
        f"{name} is {value:.6g}, not {settings[name]:g}"
        for name, value in values.items()
        if value != settings[name]
    ]
    return " and ".join(changed), {"surrogate": Slot(part.kernel, {**part.settings, **values})}


def _numbers(part: Slot) -> dict[str, float]:
    """Return the numeric settings of a part, defaults included."""
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
    """Generate the values at which the recipe's loss equals the function's loss on some batch, each once."""
    seen: set[float] = set()
    for trial, answer in zip(trials, answers, strict=True):

        def apart(value: float, trial: Trial = trial, answer: Answer = answer) -> float:
            part = _with(recipe.surrogate, names, value)
            try:
                return reference(replace(recipe, surrogate=part), trial, max_length).loss - answer.loss
            except ValueError:
                return float("nan")

        for value in _roots(apart, GRID):
            if value not in seen:
                seen.add(value)
                yield value


def _roots(function: Callable[[float], float], grid: Sequence[float]) -> Iterator[float]:
    """Generate the roots of a function between the numbers of a grid, to six digits."""
    values = [function(number) for number in grid]
    for low, high, left, right in zip(grid, grid[1:], values, values[1:], strict=False):
        if left * right < 0.0:
            yield rounded(_crossing(function, low, high, left))
        elif abs(right) < 1e-12 < abs(left):
            yield high


def _crossing(function: Callable[[float], float], low: float, high: float, left: float) -> float:
    """Return the place where a function changes its sign, by bisection."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        if function(middle) * left > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
