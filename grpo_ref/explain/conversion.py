"""Convert one trainer's configuration to the nearest one of another trainer, and list what is lost.

No code knows pairs of trainers. The configuration gives a recipe. Then the other trainer's keys are tried one
after another, each with its possible values and with the numbers of the recipe that have the key's unit. A change
is kept if it brings the other trainer's recipe closer.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import inf, isfinite
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.advantages import group_normalized, normalized_then_summed
from grpo_ref.corrections import indicator, masked, off_policy_mask, truncated
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.dialects.openrlhf.kernels import shaped_reward
from grpo_ref.explain.dialects.tunix.kernels import punished_by_characters
from grpo_ref.penalties import k1, k3, weighted_k1, weighted_k3
from grpo_ref.recipes import Recipe, Slot
from grpo_ref.rewards import soft_overlong
from grpo_ref.surrogates import (
    clipped,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    dual_clipped,
    geometric_mean_clipped,
    two_sided_clipped,
)

COMPARED = (
    *("reward", "keep", "advantage", "level", "surrogate", "kl_coef", "aggregate", "admit", "corrections"),
    *("log_ratio_limits", "distill"),
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


SETTINGS = {
    **dict.fromkeys(("clip_low", "clip_high", "min_ratio", "max_ratio", "safe_ratio", "width"), "ratio"),
    **dict.fromkeys(("lower", "upper", "window"), "ratio"),
    **dict.fromkeys(("max_log_ratio", "max_token_log_ratio", "max_value", "cov_low", "cov_high"), "nats"),
    **dict.fromkeys(("k_positive", "k_negative", "lambda_positive", "lambda_negative"), "coefficient"),
    **dict.fromkeys(("beta", "coef", "factor", "kl_coef", "penalty", "pull", "weight"), "coefficient"),
    **dict.fromkeys(("tau", "tau_positive", "tau_negative"), "temperature"),
    **dict.fromkeys(("decay", "gamma"), "discount"),
    **dict.fromkeys(("buffer", "cache", "half_life", "tail"), "tokens"),
    **dict.fromkeys(("budget", "longest"), "budget"),
    **dict.fromkeys(("high", "limit", "low"), "reward"),
    "share": "share",
}
"""Unit of each setting of a kernel, one of `UNITS`. Settings without a unit, such as eps and ddof, are never tried."""
BY_KERNEL: dict[Any, dict[str, str]] = {
    soft_overlong: {"buffer": "share of the budget"},
    shaped_reward: {"buffer": "share of the budget"},
    punished_by_characters: {"budget": "characters", "tail": "characters"},
}
"""Units of settings in kernels that use a name of `SETTINGS` for another unit."""
BY_FORM: dict[Any, dict[str, str]] = {
    geometric_mean_clipped: {"clip_low": "nats", "clip_high": "nats"},
    off_policy_mask: {"threshold": "nats"},
    **{kernel: {"low": "probability", "high": "probability"} for kernel in (dppo_tv, dppo_top_tv)},
    **{kernel: {"low": "nats", "high": "nats"} for kernel in (dppo_kl, dppo_top_kl)},
}
"""Units of settings in kernels and in all trainers' own forms of these kernels, as in `BY_KERNEL`."""
SIGNED = ("coefficient", "nats", "reward")
"""Units of numbers that may be negative."""
WHOLE = ("budget", "tokens")
"""Units of numbers that are whole."""


class Conversion(NamedTuple):
    """The nearest configuration.

    Attributes:
      config: keys of the other trainer that differ from its defaults, or that must be given.
      lost: for each part of the recipe that differs, the requested part and the other trainer's; the largest
        loss first.
      dropped: keys of the source that are not part of a recipe and have no counterpart, with their values.
      budget: the generation budget in tokens by which shares of the budget were converted; None if it is unknown.
      refusal: the reason for which the other trainer would stop with these keys and its other defaults, such as a
        batch that the completions per prompt do not divide; "" if it would run.
    """

    config: dict[str, Any]
    lost: dict[str, tuple[str, str]]
    dropped: dict[str, Any]
    budget: int | None = None
    refusal: str = ""


def convert(
    source: Dialect, target: Dialect, config: Mapping[str, Any], *, max_length: int | None = None
) -> Conversion:
    """Return the configuration of another trainer that comes nearest.

    Args:
      source, target: the dialects.
      config: configuration in keys of the source.
      max_length: the generation budget in tokens; default: that of the configuration, if it states one.

    Raises:
      ValueError: if the source refuses the configuration.
    """
    recipe = source.recipe(**config)
    conversion = nearest(target, recipe, max_length=max_length or _stated_budget(source, config))
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
    carried = conversion.config | kept | switched
    return conversion._replace(config=carried, dropped=dropped, refusal=_refusal(target, carried))


def _refusal(target: Dialect, config: dict[str, Any]) -> str:
    try:
        target.recipe(**config)
    except ValueError as error:
        return str(error)
    return ""


def nearest(target: Dialect, recipe: Recipe, *, max_length: int | None = None) -> Conversion:
    """Return the configuration of a trainer that comes nearest to a recipe.

    Args:
      target: the dialect.
      recipe: the requested recipe.
      max_length: the generation budget in tokens. Some trainers take the buffer of an overlong penalty in tokens,
        others take its share of the budget. Default: the budget in the recipe, or the trainer's own default.

    >>> from grpo_ref import DAPO
    >>> conversion = nearest(DIALECTS["openrlhf"], DAPO, max_length=20480)
    >>> conversion.config["reward.overlong_buffer_len"], conversion.config["rollout.max_new_tokens"]
    (4096, 20480)
    """
    budget = _budget_in(recipe) or max_length or _stated_budget(target, {})
    numbers, windows = _numbers(recipe, budget), _windows(recipe)
    config: dict[str, Any] = {}
    best, improved = _distance(target, config, recipe, budget), True
    while improved:
        improved = False
        for trial in _trials(target, config, numbers, windows):
            distance = _distance(target, trial, recipe, budget)
            if distance < best and not _refusal(target, trial):
                config, best, improved = trial, distance, True
    ours = target.recipe(**config)
    requested, actual = recipe.differences(ours), ours.differences(recipe)
    apart = _distances(ours, recipe, budget)
    usual = target.defaults_beside(config)
    values = {**usual, **config}
    return Conversion(
        config={
            key: values[key]
            for key in values
            if key in target.keys.written or values[key] != usual[key] or _is_needed(target, key, config)
        },
        lost={
            part: (
                requested.get(part, str(getattr(recipe, part))),
                actual.get(part) or _own(target, ours, part),
            )
            for part in sorted(apart, key=lambda part: -apart[part])
            if apart[part]
        },
        dropped={},
        budget=budget,
    )


def _is_needed(target: Dialect, key: str, config: Mapping[str, Any]) -> bool:
    """Return True if a key's number matters because the keys without which it does nothing are set."""
    together = target.keys.table[key].together if key in target.keys.table else {}
    return bool(together) and all(config.get(name) == value for name, value in together.items())


def _own(target: Dialect, ours: Recipe, part: str) -> str:
    """Return the text of a part whose kernel has the same name and settings as the requested one, but differs."""
    return f"{target.title}'s own {getattr(ours, part)}"


def share_needs_budget(recipe: Recipe) -> bool:
    """Return true if a length in the recipe is a share of the generation budget.

    >>> from grpo_ref import DAPO, GRPO
    >>> share_needs_budget(DAPO), share_needs_budget(GRPO)
    (True, False)
    """
    return any(unit == "share of the budget" for unit, _ in _with_units(recipe.reward))


def _stated_budget(dialect: Dialect, config: Mapping[str, Any]) -> int | None:
    """Return the first generation budget in the settings of a trainer."""
    settings = dialect.settings(config)
    keys = (name for name, key in dialect.keys.table.items() if "budget" in key.unit)
    return next((settings[key] for key in keys if type(settings[key]) is int), None)


def _budget_in(recipe: Recipe) -> int | None:
    """Return the generation budget in the settings of the reward, if the reward has a length penalty."""
    if not _have_length_penalties(recipe.reward):
        return None
    return next((int(value) for unit, value in _with_units(recipe.reward) if unit == "budget"), None)


def _trials(
    target: Dialect, config: dict[str, Any], numbers: Mapping[str, list[float]], windows: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the configuration with one key changed, or with a number and the keys without which it does nothing.

    A buffer is tried with each key of the generation budget too, because neither of the two helps alone.
    """
    table = target.keys.table
    switches = [
        {key: value}
        for key in target.keys.choices
        if key.split(".")[-1].startswith("use_")
        for value in target.keys.choices[key]
    ]
    budgets = [
        {name: value}
        for name, key in table.items()
        if "budget" in key.unit
        for value in numbers.get("budget", ())
    ]
    for name, values in target.keys.choices.items():
        for value in values:
            yield config | {name: value}
    for name, key in table.items():
        fitting = sorted({value for unit in key.unit for value in numbers.get(unit, [])})
        if not fitting:
            continue
        if isinstance(key.default, list):
            yield from (config | {name: [low, high]} for low in [0.0, *fitting] for high in [*fitting, inf])
        else:
            others = [{}, *switches, *(budgets if "tokens" in key.unit else [])]
            yield from (
                {**config, **key.together, name: value, **more} for value in fitting for more in others
            )
        if key.window:
            yield from (config | {name: window} for window in windows)


def _numbers(recipe: Recipe, budget: int | None) -> dict[str, list[float]]:
    """Return the numbers of a recipe that a trainer may have a key for, by their unit."""
    numbers: dict[str, set[float]] = {"coefficient": {recipe.kl_coef}, "nats": set(recipe.log_ratio_limits)}
    parts = (recipe.reward, recipe.keep, recipe.admit, recipe.advantage, recipe.surrogate, recipe.aggregate)
    penalty = (recipe.penalty,) if recipe.kl_coef else ()
    for part in (*parts, *penalty, *recipe.corrections):
        for unit, value in _with_units(part):
            if unit == "share of the budget" and budget:
                numbers.setdefault("tokens", set()).add(value * budget)
                numbers.setdefault("budget", set()).add(budget)
            elif unit == "ratio":
                # one trainer has the bound of a ratio, another one its distance from 1
                numbers.setdefault(unit, set()).update((value, value - 1.0, 1.0 - value))
            else:
                numbers.setdefault(unit, set()).add(value)
    return {
        unit: sorted(
            {
                round(value) if unit in WHOLE else float(value)
                for value in values
                if isfinite(value) and (value >= 0.0 or unit in SIGNED)
            }
        )
        for unit, values in numbers.items()
    }


def _windows(recipe: Recipe) -> list[str]:
    """Return the bounds of each correction that drops on both sides, as text: "0.5_5.0"."""
    settings = [_all_settings(each) for each in recipe.corrections]
    return [f"{each['min_ratio']}_{each['max_ratio']}" for each in settings if each.get("min_ratio")]


def _with_units(part: Slot) -> Iterator[tuple[str, float]]:
    """Yield each number in a part, and in the parts inside it, with its unit."""
    for name, value in _all_settings(part).items():
        unit = _unit(part.kernel, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Slot):
                yield from _with_units(each)
            elif unit and type(each) in (int, float):
                yield unit, each


def _unit(kernel: Any, setting: str) -> str:
    own = BY_KERNEL.get(kernel, BY_FORM.get(FORMS.get(kernel, kernel), {}))
    return own.get(setting, SETTINGS.get(setting, ""))


def _all_settings(part: Slot) -> dict[str, Any]:
    """Return the settings of a part, defaults included."""
    parameters = inspect.signature(part.kernel).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    return {**defaults, **part.settings}


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return COMPARED + (("penalty",) if recipe.kl_coef else ())


def _distance(target: Dialect, config: dict[str, Any], recipe: Recipe, budget: int | None) -> float:
    """Return the distance of a configuration from the requested recipe; infinite if the trainer would refuse it."""
    try:
        ours = target.objective.build(target.settings(config))
    except (ValueError, TypeError, ZeroDivisionError):
        return inf
    return sum(_distances(ours, recipe, budget).values())


def _distances(ours: Recipe, requested: Recipe, budget: int | None) -> dict[str, float]:
    """Return the distance of each part from the requested one."""
    distances = {part: _apart(getattr(ours, part), getattr(requested, part)) for part in _parts(requested)}
    if distances["reward"] and budget and _have_length_penalties(ours.reward, requested.reward):
        distances["reward"] = _penalties_apart(ours.reward, requested.reward, budget)
    distances["log_ratio_limits"] *= FAR_AWAY
    if requested.kl_coef and (ours.penalty_aggregate or requested.penalty_aggregate):
        averages = (each.penalty_aggregate or each.aggregate for each in (ours, requested))
        distances["penalty_aggregate"] = 0.5 * _apart(*averages)
    return distances


def in_places(recipe: Recipe, budget: int, places: int) -> Recipe:
    """Return the recipe for a batch of few places: lengths in tokens are scaled as the budget is to the places.

    Args:
      recipe: the recipe.
      budget: the generation budget of the recipe, in tokens.
      places: number of places of the batch.

    >>> from grpo_ref.explain.dialects import verl
    >>> buffer = {"overlong_buffer_cfg.enable": True, "reward_manager": "dapo", "max_resp_len": 20480}
    >>> print(in_places(verl.recipe(**buffer), 20480, 10).reward)
    overlong_in_tokens(buffer=2.0, budget=10.0, factor=1.0)
    """
    return replace(recipe, reward=_scaled(recipe.reward, places / budget))


def _scaled(part: Slot, factor: float) -> Slot:
    lengths = {
        name: value * factor
        for name, value in _all_settings(part).items()
        if _unit(part.kernel, name) in WHOLE and type(value) in (int, float)
    }
    return Slot(part.kernel, {**part.settings, **lengths})


def _have_length_penalties(*rewards: Slot) -> bool:
    lengths = {"tokens", "share of the budget"}
    return all(any(unit in lengths for unit, _ in _with_units(reward)) for reward in rewards)


def _penalties_apart(ours: Slot, requested: Slot, budget: int) -> float:
    """Return the distance of two length penalties: 0 if they are equal for all completions within the budget.

    Otherwise it is the distance of related kernels, by the share of their numbers that differ. The search changes
    these numbers one after another, and each must bring the penalty closer.
    """
    record = _every_length()
    try:
        one, other = (_scaled(part, PLACES / budget)(record) for part in (ours, requested))
    except (ValueError, TypeError):
        return 1.0
    if np.allclose(one, other, rtol=0.0, atol=1e-12):
        return 0.0
    numbers = []
    for part in (ours, requested):
        own: dict[str, float] = {"budget": budget, "coefficient": 1.0, **dict(_with_units(part))}
        if "share of the budget" in own:
            own["tokens"] = own["share of the budget"] * budget
        numbers.append([own.get(unit) for unit in ("tokens", "budget", "coefficient")])
    unequal = [mine != theirs for mine, theirs in zip(*numbers, strict=True)]
    return float(RELATED + (0.75 - RELATED) * sum(unequal) / len(unequal))


PLACES = 100
"""The generation budget on which length penalties are compared."""


@cache
def _every_length() -> SimpleNamespace:
    lengths = np.arange(1.0, PLACES + 1.0).reshape(10, 10)
    solved = np.arange(PLACES).reshape(10, 10) % 2.0
    return SimpleNamespace(rewards=solved, lengths=lengths, max_length=PLACES, ended=lengths < PLACES)


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
    unequal = _unequal(_not_usual(ours, theirs), theirs.settings)
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


def _not_usual(ours: Slot, theirs: Slot) -> dict[str, Any]:
    """Return the settings of a part without those that the other kernel has by default and that are not requested."""
    parameters = inspect.signature(theirs.kernel).parameters
    usual = {name: parameters[name].default for name in parameters.keys() - theirs.settings.keys()}
    return {name: value for name, value in ours.settings.items() if name not in usual or value != usual[name]}


def _unequal(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """Return the share of requested settings that differ, plus a little for each setting that was not requested."""
    weights = {name: NEGLIGIBLE if name == "eps" else 1.0 for name in theirs}
    wrong = sum(weight for name, weight in weights.items() if ours.get(name) != theirs[name])
    extra: float = sum(_presence(ours[name]) for name in ours.keys() - theirs.keys())
    return min(1.0, wrong / max(sum(weights.values()), 1.0) + 0.05 * extra)


def _presence(setting: Any) -> float:
    """Return the effect of a setting that was not requested. The higher a cap, the smaller its effect."""
    return min(1.0, 1.0 / setting) if type(setting) in (int, float) and setting > 0.0 else 1.0
