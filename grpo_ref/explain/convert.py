"""From one trainer's configuration to another's: the nearest one, and what cannot be said in it.

Nothing knows pairs of trainers. The configuration gives a recipe; the other dialect's keys are tried one
after another, each with the values it may have and with the numbers of the recipe, and a change is kept where
it brings the other trainer's recipe closer.
"""

import inspect
from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.kernels.advantages import group_normalized, normalized_then_summed
from grpo_ref.kernels.corrections import indicator, masked, truncated
from grpo_ref.kernels.penalties import k1, k3, weighted_k1, weighted_k3
from grpo_ref.kernels.surrogates import clipped, dual_clipped, two_sided_clipped
from grpo_ref.recipes import Recipe, Slot

COMPARED = (
    *("reward", "keep", "advantage", "level", "surrogate", "kl_coef", "aggregate", "admit", "corrections"),
    "log_ratio_limits",
)
"""The parts that are compared; the penalty is too, where it has weight."""


FAR_AWAY = 0.01
"""What limits of the log-ratio count: hardly any token ever reaches them."""


NEGLIGIBLE = 0.02
"""What the eps that keeps a denominator from 0 counts beside another setting."""

RELATED, STRANGER = 0.1, 0.8
"""The distance of a related kernel with the same settings, and of one that says something else; a related
kernel is nearer than the same one with a wrong bound."""

FAMILIES: tuple[set[Any], ...] = (
    {clipped, dual_clipped, two_sided_clipped},
    {k3, weighted_k3},
    {k1, weighted_k1},
    {truncated, masked, indicator},
    {group_normalized, normalized_then_summed},
)
"""Kernels that say nearly the same, with one bound or one weight more."""

FORMS = {own: common for dialect in DIALECTS.values() for own, common in dialect.forms.items()}
"""A trainer's own kernel, and the common one whose family it is of."""


class Conversion(NamedTuple):
    """The nearest configuration.

    Attributes:
      config: keys of the other dialect that differ from its defaults, or have to be spelt out.
      lost: part of the recipe -> what was wanted, and what the other trainer does; the largest loss first.
      dropped: keys of the source that are no part of a recipe and have no counterpart, with their values.
    """

    config: dict[str, Any]
    lost: dict[str, tuple[str, str]]
    dropped: dict[str, Any]


def convert(source: Dialect, target: Dialect, config: Mapping[str, Any]) -> Conversion:
    """The configuration of another trainer that comes nearest.

    Args:
      source, target: the dialects.
      config: keys of the source.

    Raises:
      ValueError: if the source refuses the configuration.
    """
    recipe = source.recipe(**config)
    found = nearest(target, recipe)
    given = {str(source.key(key)): value for key, value in source.read(config).items()}
    if "max_length" in recipe.aggregate.reads:
        given = source.budget(config) | given
    beside = {concept: key for concept, key in source.concepts.items() if key in given}
    theirs = {concept: key for concept, key in target.concepts.items() if key not in target.absent}
    counts = {name: source.concept(name, config) for name in beside if name in theirs}
    kept = {theirs[name]: value for name, value in counts.items()}
    switched = {target.switches[key]: True for key, value in kept.items() if value and key in target.switches}
    dropped = {key: given[key] for name, key in beside.items() if name not in theirs}
    return found._replace(config=found.config | kept | switched, dropped=dropped)


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
            if distance < best and _accepted(target, trial):
                config, best, improved = trial, distance, True
    ours = target.recipe(**config)
    wanted, got = recipe.differences(ours), ours.differences(recipe)
    apart = _distances(ours, recipe)
    usual = target.defaults_beside(config)
    told = {**usual, **config}
    return Conversion(
        config={key: told[key] for key in told if key in target.always or told[key] != usual[key]},
        lost={
            part: (wanted[part], got[part])
            for part in sorted(apart, key=lambda part: -apart[part])
            if apart[part]
        },
        dropped={},
    )


def _trials(target: Dialect, config: dict[str, Any], recipe: Recipe) -> Iterator[dict[str, Any]]:
    """The configuration with one key changed, or with a number and a switch that turns it on."""
    found = {number for value in _numbers(recipe) for number in (value, value - 1.0, 1.0 - value)}
    numbers = sorted({number for number in found if number >= 0.0} | {recipe.kl_coef})
    switches = [
        {key: value}
        for key in target.choices
        if key.split(".")[-1].startswith("use_")
        for value in target.choices[key]
    ]
    for key, values in target.choices.items():
        for value in values:
            yield config | {key: value}
    for key, default in target.defaults.items():
        if isinstance(default, list):
            yield from (config | {key: [low, high]} for low in [0.0, *numbers] for high in [*numbers, inf])
        elif type(default) is float or (key not in target.choices and type(default) in (int, type(None))):
            yield from (config | {key: value} | switch for value in numbers for switch in [{}, *switches])


def _numbers(recipe: Recipe) -> Iterator[float]:
    """Every number in a recipe that some trainer has a key for; those inside a penalty have none."""
    yield recipe.kl_coef
    yield from (limit for limit in recipe.log_ratio_limits if isfinite(limit))
    wrapped = (_inner(part) for part in recipe.corrections)
    for part in (recipe.advantage, recipe.surrogate, recipe.aggregate, *recipe.corrections, *wrapped):
        yield from (float(value) for value in part.settings.values() if type(value) in (int, float))


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return COMPARED + (("penalty",) if recipe.kl_coef else ())


def _distance(target: Dialect, config: dict[str, Any], recipe: Recipe) -> float:
    """How far a configuration is from what is wanted; infinite if the trainer would refuse it."""
    try:
        ours = target.build(target.settings(config))
    except (ValueError, TypeError, ZeroDivisionError):
        return inf
    return sum(_distances(ours, recipe).values())


def _distances(ours: Recipe, wanted: Recipe) -> dict[str, float]:
    """How far each part is off."""
    distances = {part: _apart(getattr(ours, part), getattr(wanted, part)) for part in _parts(wanted)}
    distances["log_ratio_limits"] *= FAR_AWAY
    if wanted.kl_coef and (ours.penalty_aggregate or wanted.penalty_aggregate):
        averages = (each.penalty_aggregate or each.aggregate for each in (ours, wanted))
        distances["penalty_aggregate"] = 0.5 * _apart(*averages)
    return distances


def _accepted(target: Dialect, config: dict[str, Any]) -> bool:
    """Whether the trainer would run with it; slower than to see how far it is off."""
    try:
        return bool(target.recipe(**config))
    except ValueError:
        return False


def _apart(ours: Any, theirs: Any) -> float:
    """0 for equal parts, up to 1/2 for other settings of the same kernel, 3/4 for a related one, 1 for others.

    What is wrapped around a part counts as little as a bound more.
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
    """The mean of the parts, if none is a stranger; to leave out a lone part is nearer than a stranger for it."""
    if len(ours) != len(theirs):
        return 1.0 if ours or len(theirs) > 1 else STRANGER
    apart = [_apart(one, other) for one, other in zip(ours, theirs, strict=True)]
    return sum(apart) / len(apart) if max(apart) < STRANGER else 1.0


def _inner(part: Slot) -> Slot:
    """The part that a part is wrapped around, the first one in its settings; itself if there is none."""
    return next((value for value in part.settings.values() if isinstance(value, Slot)), part)


def _telling(ours: Slot, theirs: Slot) -> dict[str, Any]:
    """The settings of a part that tell it from another of the same kernel: no defaults that nobody wanted."""
    parameters = inspect.signature(ours.kernel).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    given = {name: value for name, value in ours.settings.items() if value != defaults[name]}
    return {name: defaults[name] for name in theirs.settings} | given


def _unequal(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """The share of the wanted settings that are others here, and a little for each setting that was not wanted."""
    weights = {name: NEGLIGIBLE if name == "eps" else 1.0 for name in theirs}
    wrong = sum(weight for name, weight in weights.items() if ours.get(name) != theirs[name])
    extra: float = sum(_presence(ours[name]) for name in ours.keys() - theirs.keys())
    return min(1.0, wrong / max(sum(weights.values()), 1.0) + 0.05 * extra)


def _presence(setting: Any) -> float:
    """How much a setting that was not wanted does: the higher a cap, the less."""
    return min(1.0, 1.0 / setting) if type(setting) in (int, float) and setting > 0.0 else 1.0
