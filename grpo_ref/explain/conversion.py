"""Convert one trainer's configuration to the nearest one of another trainer, and list what is lost.

No code knows pairs of trainers. The configuration gives a recipe. Then the other trainer's keys are tried one
after another, each with its possible values and with the numbers of the recipe. A change is kept if it brings
the other trainer's recipe closer.
"""

import inspect
from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any, NamedTuple

from grpo_ref.advantages import group_normalized, normalized_then_summed
from grpo_ref.corrections import indicator, masked, truncated
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.penalties import k1, k3, weighted_k1, weighted_k3
from grpo_ref.recipes import Recipe, Slot
from grpo_ref.surrogates import clipped, dual_clipped, two_sided_clipped

COMPARED = (
    *("reward", "keep", "advantage", "level", "surrogate", "kl_coef", "aggregate", "admit", "corrections"),
    "log_ratio_limits",
)
"""The parts that are compared. The penalty is compared too, if it has weight."""


FAR_AWAY = 0.01
"""Weight of a difference in the limits of the log-ratio.

It is small because hardly any token reaches them.
"""


NEGLIGIBLE = 0.02
"""Weight of a difference in the eps of a denominator, compared with other settings."""

RELATED, STRANGER = 0.1, 0.8
"""Distance of a related kernel with equal settings, and of an unrelated one.

A related kernel is nearer than the right kernel with a wrong bound.
"""

FAMILIES: tuple[set[Any], ...] = (
    {clipped, dual_clipped, two_sided_clipped},
    {k3, weighted_k3},
    {k1, weighted_k1},
    {truncated, masked, indicator},
    {group_normalized, normalized_then_summed},
)
"""Kernels that differ only by one bound or one weight."""

FORMS = {own: common for dialect in DIALECTS.values() for own, common in dialect.objective.forms.items()}
"""Each kernel of a trainer's own, with the common kernel that it is related to."""


class Conversion(NamedTuple):
    """The nearest configuration.

    Attributes:
      config: keys of the other trainer that differ from its defaults, or that must be given.
      lost: for each part of the recipe that differs, the wanted part and the other trainer's; the largest
        loss first.
      dropped: keys of the source that are not part of a recipe and have no counterpart, with their values.
    """

    config: dict[str, Any]
    lost: dict[str, tuple[str, str]]
    dropped: dict[str, Any]


def convert(source: Dialect, target: Dialect, config: Mapping[str, Any]) -> Conversion:
    """Return the configuration of another trainer that comes nearest.

    Args:
      source, target: the dialects.
      config: configuration in keys of the source.

    Raises:
      ValueError: if the source refuses the configuration.
    """
    recipe = source.recipe(**config)
    found = nearest(target, recipe)
    given = {str(source.key(key)): value for key, value in source.read(config).items()}
    if "max_length" in recipe.aggregate.reads:
        given = source.budget(config) | given
    beside = {concept: key for concept, key in source.keys.concepts.items() if key in given}
    theirs = {
        concept: key for concept, key in target.keys.concepts.items() if key not in target.keys.behaviours
    }
    counts = {name: source.concept(name, config) for name in beside if name in theirs}
    kept = {theirs[name]: value for name, value in counts.items()}
    switched = {
        target.keys.needs[key]: True for key, value in kept.items() if value and key in target.keys.needs
    }
    dropped = {key: given[key] for name, key in beside.items() if name not in theirs}
    return found._replace(config=found.config | kept | switched, dropped=dropped)


def nearest(target: Dialect, recipe: Recipe) -> Conversion:
    """Return the configuration of a trainer that comes nearest to a recipe.

    Args:
      target: the dialect.
      recipe: the wanted recipe.
    """
    config: dict[str, Any] = {}
    best, improved = _distance(target, config, recipe), True
    while improved:
        improved = False
        for trial in _trials(target, config, recipe):
            distance = _distance(target, trial, recipe)
            if distance < best and _accepted(target, trial):
                config, best, improved = trial, distance, True
    ours = target.recipe(**config)
    wanted, got = recipe.differences(ours), ours.differences(recipe)
    apart = _distances(ours, recipe)
    usual = target.defaults_beside(config)
    told = {**usual, **config}
    return Conversion(
        config={key: told[key] for key in told if key in target.keys.written or told[key] != usual[key]},
        lost={
            part: (wanted[part], got[part])
            for part in sorted(apart, key=lambda part: -apart[part])
            if apart[part]
        },
        dropped={},
    )


def _trials(target: Dialect, config: dict[str, Any], recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Yield the configuration with one key changed, or with a number and the switch that turns it on."""
    found = {number for value in _numbers(recipe) for number in (value, value - 1.0, 1.0 - value)}
    numbers = sorted({number for number in found if number >= 0.0} | {recipe.kl_coef})
    switches = [
        {key: value}
        for key in target.keys.choices
        if key.split(".")[-1].startswith("use_")
        for value in target.keys.choices[key]
    ]
    for key, values in target.keys.choices.items():
        for value in values:
            yield config | {key: value}
    for key, default in target.keys.defaults.items():
        if isinstance(default, list):
            yield from (config | {key: [low, high]} for low in [0.0, *numbers] for high in [*numbers, inf])
        elif type(default) is float or (
            key not in target.keys.choices and type(default) in (int, type(None))
        ):
            yield from (config | {key: value} | switch for value in numbers for switch in [{}, *switches])


def _numbers(recipe: Recipe) -> Iterator[float]:
    """Yield each number in a recipe that a trainer may have a key for.

    Numbers inside a penalty have no keys.
    """
    yield recipe.kl_coef
    yield from (limit for limit in recipe.log_ratio_limits if isfinite(limit))
    wrapped = (_inner(part) for part in recipe.corrections)
    for part in (recipe.advantage, recipe.surrogate, recipe.aggregate, *recipe.corrections, *wrapped):
        yield from (float(value) for value in part.settings.values() if type(value) in (int, float))


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return COMPARED + (("penalty",) if recipe.kl_coef else ())


def _distance(target: Dialect, config: dict[str, Any], recipe: Recipe) -> float:
    """Return the distance of a configuration from the wanted recipe; infinite if the trainer would refuse it."""
    try:
        ours = target.objective.build(target.settings(config))
    except (ValueError, TypeError, ZeroDivisionError):
        return inf
    return sum(_distances(ours, recipe).values())


def _distances(ours: Recipe, wanted: Recipe) -> dict[str, float]:
    """Return the distance of each part from the wanted one."""
    distances = {part: _apart(getattr(ours, part), getattr(wanted, part)) for part in _parts(wanted)}
    distances["log_ratio_limits"] *= FAR_AWAY
    if wanted.kl_coef and (ours.penalty_aggregate or wanted.penalty_aggregate):
        averages = (each.penalty_aggregate or each.aggregate for each in (ours, wanted))
        distances["penalty_aggregate"] = 0.5 * _apart(*averages)
    return distances


def _accepted(target: Dialect, config: dict[str, Any]) -> bool:
    """Return true if the trainer would accept the configuration. This is slower than `_distance`."""
    try:
        return bool(target.recipe(**config))
    except ValueError:
        return False


def _apart(ours: Any, theirs: Any) -> float:
    """Return the distance of two parts, from 0 for equal parts to 1 for unrelated ones.

    It is at most 1/2 for other settings of one kernel, and 3/4 for a related kernel. A wrapper around a part
    counts as little as one more bound.
    """
    if ours == theirs:
        return 0.0
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return _all_apart(ours, theirs)
    if not isinstance(ours, Slot) or not isinstance(theirs, Slot):
        return 1.0
    inner = [_inner(part) for part in (ours, theirs)]
    if ours.kernel is not theirs.kernel and inner != [ours, theirs]:
        return RELATED + (1.0 - RELATED) * _apart(*inner)
    if ours.kernel is theirs.kernel:
        return 0.5 * _unequal(_telling(ours, theirs), theirs.settings)
    unequal = _unequal(ours.settings, theirs.settings)
    kernels = {FORMS.get(part.kernel, part.kernel) for part in (ours, theirs)}
    if len(kernels) == 1 or any(kernels <= family for family in FAMILIES):
        return RELATED + (0.75 - RELATED) * unequal
    return STRANGER + (1.0 - STRANGER) * unequal


def _all_apart(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> float:
    """Return the mean distance of the parts, or 1 if one of them is unrelated.

    To drop a single part is nearer than to replace it by an unrelated one.
    """
    if len(ours) != len(theirs):
        return 1.0 if ours or len(theirs) > 1 else STRANGER
    apart = [_apart(one, other) for one, other in zip(ours, theirs, strict=True)]
    return sum(apart) / len(apart) if max(apart) < STRANGER else 1.0


def _inner(part: Slot) -> Slot:
    """Return the part that a part is wrapped around (the first in its settings), else the part itself."""
    return next((value for value in part.settings.values() if isinstance(value, Slot)), part)


def _telling(ours: Slot, theirs: Slot) -> dict[str, Any]:
    """Return the settings that distinguish a part from another of its kernel, defaults only if the other has them."""
    parameters = inspect.signature(ours.kernel).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    given = {name: value for name, value in ours.settings.items() if value != defaults[name]}
    return {name: defaults[name] for name in theirs.settings} | given


def _unequal(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """Return the share of wanted settings that differ, plus a little for each setting that was not wanted."""
    weights = {name: NEGLIGIBLE if name == "eps" else 1.0 for name in theirs}
    wrong = sum(weight for name, weight in weights.items() if ours.get(name) != theirs[name])
    extra: float = sum(_presence(ours[name]) for name in ours.keys() - theirs.keys())
    return min(1.0, wrong / max(sum(weights.values()), 1.0) + 0.05 * extra)


def _presence(setting: Any) -> float:
    """Return the effect of a setting that was not wanted. The higher a cap, the smaller its effect."""
    return min(1.0, 1.0 / setting) if type(setting) in (int, float) and setting > 0.0 else 1.0
