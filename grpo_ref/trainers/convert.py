"""From one trainer's configuration to another's: the nearest one, and what cannot be said in it.

Nothing knows pairs of trainers. The configuration gives a recipe; the other dialect's keys are tried one
after another, each with the values it may have and with the numbers of the recipe, and a change is kept where
it brings the other trainer's recipe closer.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from grpo_ref.recipes import Recipe, Slot
from grpo_ref.trainers.dialect import Dialect

COMPARED = (
    *("reward", "keep", "advantage", "level", "surrogate", "kl_coef", "aggregate", "admit", "corrections"),
    "log_ratio_limits",
)
"""The parts that are compared; the penalty is too, where it has weight."""


FAR_AWAY = 0.01
"""What limits of the log-ratio count: hardly any token ever reaches them."""


class Conversion(NamedTuple):
    """The nearest configuration.

    Attributes:
      config: keys of the other dialect that differ from its defaults.
      lost: part of the recipe -> what was wanted, and what the other trainer does.
    """

    config: dict[str, Any]
    lost: dict[str, tuple[str, str]]


def convert(source: Dialect, target: Dialect, config: Mapping[str, Any]) -> Conversion:
    """The configuration of another trainer that comes nearest.

    Args:
      source, target: the dialects.
      config: keys of the source.

    Raises:
      ValueError: if the source refuses the configuration.
    """
    return nearest(target, source.recipe(**config))


def nearest(target: Dialect, recipe: Recipe) -> Conversion:
    """The configuration of a trainer that comes nearest to a recipe.

    Args:
      target: the dialect.
      recipe: what is wanted.
    """
    config: dict[str, Any] = {}
    best, improved = _distance(target, config, recipe), True
    while improved:
        improved = False
        for trial in _trials(target, config, recipe):
            distance = _distance(target, trial, recipe)
            if distance < best:
                config, best, improved = trial, distance, True
    ours = target.recipe(**config)
    wanted, got = recipe.differences(ours), ours.differences(recipe)
    differing = [part for part in _parts(recipe) if getattr(ours, part) != getattr(recipe, part)]
    return Conversion(
        config={key: value for key, value in config.items() if value != target.defaults[key]},
        lost={part: (wanted[part], got[part]) for part in differing},
    )


def _trials(target: Dialect, config: dict[str, Any], recipe: Recipe) -> Iterator[dict[str, Any]]:
    """The configuration with one key changed, or with a number and a switch that turns it on."""
    found = {number for value in _numbers(recipe) for number in (value, value - 1.0, 1.0 - value)}
    numbers = sorted(number for number in found if number >= 0.0)
    switches = [
        {key: value} for key in target.choices if key.startswith("use_") for value in target.choices[key]
    ]
    for key, values in target.choices.items():
        for value in values:
            yield config | {key: value}
    for key, default in target.defaults.items():
        if isinstance(default, list):
            yield from (config | {key: [low, high]} for low in [0.0, *numbers] for high in [*numbers, inf])
        elif key not in target.choices and (default is None or type(default) in (int, float)):
            yield from (config | {key: value} | switch for value in numbers for switch in [{}, *switches])


def _numbers(recipe: Recipe) -> Iterator[float]:
    """Every number in a recipe."""
    yield recipe.kl_coef
    for part in (recipe.advantage, recipe.surrogate, recipe.penalty, recipe.aggregate, *recipe.corrections):
        yield from (float(value) for value in part.settings.values() if type(value) in (int, float))


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return COMPARED + (("penalty",) if recipe.kl_coef else ())


def _distance(target: Dialect, config: dict[str, Any], recipe: Recipe) -> float:
    """How far a configuration is from what is wanted; infinite if the trainer would refuse it."""
    try:
        ours = target.recipe(**config)
    except (ValueError, TypeError, ZeroDivisionError):
        return inf
    distances = {part: _apart(getattr(ours, part), getattr(recipe, part)) for part in _parts(recipe)}
    distances["log_ratio_limits"] *= FAR_AWAY
    return sum(distances.values())


def _apart(ours: Any, theirs: Any) -> float:
    """0 for equal parts, up to 1/2 for other settings of the same kernel, up to 1 for another kernel."""
    if ours == theirs:
        return 0.0
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs):
        apart: float = sum(_apart(one, other) for one, other in zip(ours, theirs, strict=True))
        return apart / len(ours)
    if not isinstance(ours, Slot) or not isinstance(theirs, Slot):
        return 1.0
    wanted, extra = theirs.settings, len(ours.settings.keys() - theirs.settings.keys())
    equal: float = sum(ours.settings.get(name) == value for name, value in wanted.items()) / max(
        len(wanted), 1
    )
    if ours.kernel is theirs.kernel:
        return 0.5 - 0.4 * equal
    return 1.0 - 0.2 * equal + 0.02 * extra
