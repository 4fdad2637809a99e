"""Objective ID: a short hash of the objective that a recipe computes, to compare papers, runs and trainers.

    >>> from grpo_ref import GRPO
    >>> print(canonical(GRPO))
    grpo1
    advantage = group_normalized(ddof=1, eps=0.0001, keep_singletons=false)
    level = token_level
    surrogate = clipped(clip_high=0.2, clip_low=0.2)
    kl_coef = 0.04
    penalty = k3(max_log_ratio=inf, max_value=inf)
    aggregate = sequence_mean_token_mean(count_empty=true, eps=0)
    >>> objective_id(GRPO) == "grpo1-" + hashlib.sha256(canonical(GRPO).encode()).hexdigest()[:12]
    True

The ID is a hash of this canonical text. The text has a line for each part that acts, in a fixed order, with
every setting of the kernel, defaults included. It omits parts that do nothing, such as a penalty of weight 0
and a filter that keeps every group. If two kernels compute the same numbers for some settings, the text names
one of them. The text has no sizes, because sizes belong to the data: the completions per prompt, the
generation budget and the batch. The source of the recipe is not in the text either.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter, signature
from numbers import Real
from typing import Any

from grpo_ref.advantages import best_of_group, gigpo, gigpo_over_turns, turn_returns
from grpo_ref.filters import all_completions, all_groups
from grpo_ref.penalties import no_penalty
from grpo_ref.recipes.recipe import Recipe, Slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import clipped, dual_clipped, reinforce, two_sided_clipped

SCHEME = "grpo1"
"""Version of the canonical text, and the beginning of every ID.

It changes if the same objective gets another text, so that two IDs of one version can always be compared. A
test keeps the IDs of all recipes.
"""
DIGITS = 12
"""Hexadecimal digits of the hash in an ID."""
UNUSED: dict[Any, tuple[str, bool, tuple[str, ...]]] = {
    kernel: ("scale", False, ("ddof", "eps"))
    for kernel in (best_of_group, gigpo, gigpo_over_turns, turn_returns)
}
"""For a kernel: a switch, its value, and the settings that the kernel does not use at that value."""


def objective_id(recipe: Recipe, beside: Mapping[str, str] | None = None) -> str:
    """Return the ID of the objective, such as "grpo1-1f0c25a4e6b7".

    Args:
      recipe: the recipe.
      beside: further parts of the objective with their texts, as in `canonical`.

    Raises:
      ValueError: if a kernel is not a part of this library, so that its name does not say what it computes.
    """
    digest = hashlib.sha256(canonical(recipe, beside).encode("utf-8")).hexdigest()
    return f"{SCHEME}-{digest[:DIGITS]}"


def canonical(recipe: Recipe, beside: Mapping[str, str] | None = None) -> str:
    """Return the canonical text of the objective, whose hash is the ID.

    Args:
      recipe: the recipe.
      beside: further parts of the objective, such as an entropy bonus, with their texts.

    Raises:
      ValueError: if a kernel is not a part of this library.
    """
    parts = {**canonical_parts(recipe), **(beside or {})}
    return "\n".join([SCHEME, *(f"{name} = {text}" for name, text in parts.items())])


def canonical_parts(recipe: Recipe) -> dict[str, str]:
    """Return the canonical text of each part that acts, by the name of the part.

    Raises:
      ValueError: if a kernel is not a part of this library.

    >>> from grpo_ref import DR_GRPO
    >>> canonical_parts(DR_GRPO)["advantage"]
    'group_centered(keep_singletons=false)'
    """
    recipe = simplified(recipe)
    teacher = recipe.distill
    # A teacher that replaces the rewards leaves no trace of the reward and of the advantage.
    is_alone = teacher is not None and teacher.settings.get("reward_coef") == 0.0
    low, high = recipe.log_ratio_limits
    has_penalty = recipe.kl_coef != 0.0 and recipe.penalty.kernel is not no_penalty
    reads_ratio = recipe.surrogate.kernel is not reinforce or any(
        "log_ratio" in part.reads for part in (*recipe.corrections, *[recipe.penalty] * has_penalty)
    )
    chosen: dict[str, Any] = {
        "reward": None if is_alone or recipe.reward.kernel is task_reward else recipe.reward,
        "keep": None if recipe.keep.kernel is all_groups else recipe.keep,
        "admit": None if recipe.admit.kernel is all_completions else recipe.admit,
        "advantage": None if is_alone else recipe.advantage,
        "distill": teacher,
        "level": recipe.level if reads_ratio else None,
        "log_ratio_limits": (low, high) if reads_ratio and (low, high) != (-math.inf, math.inf) else None,
        "surrogate": recipe.surrogate,
        "corrections": recipe.corrections or None,
        "kl_coef": recipe.kl_coef if has_penalty else None,
        "penalty": recipe.penalty if has_penalty else None,
        "aggregate": recipe.aggregate,
        "penalty_aggregate": recipe.penalty_aggregate if has_penalty else None,
    }
    texts = {name: canonical_value(part) for name, part in chosen.items() if part is not None}
    if recipe.corrections:
        texts["corrections"] = " * ".join(
            sorted(map(canonical_value, recipe.corrections))
        )  # a product has no order
    if texts.get("penalty_aggregate") == texts["aggregate"]:
        del texts["penalty_aggregate"]
    return texts


def simplified(recipe: Recipe) -> Recipe:
    """Return the recipe with kernels replaced by simpler kernels that compute the same numbers.

    >>> from grpo_ref import GRPO, slot
    >>> recipe = replace(GRPO, surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0))
    >>> simplified(recipe).surrogate
    slot(dual_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0)
    """
    surrogate, reward = with_defaults(recipe.surrogate), with_defaults(recipe.reward)
    if surrogate.kernel is two_sided_clipped:
        # The docstring of the kernel: from this bound on, the cap acts only on tokens with A < 0.
        if surrogate.settings["max_ratio"] >= 1.0 + surrogate.settings["clip_high"]:
            surrogate = Slot(dual_clipped, surrogate.settings)
    if surrogate.kernel is dual_clipped and surrogate.settings["max_ratio"] == math.inf:
        bounds = {name: surrogate.settings[name] for name in ("clip_low", "clip_high")}
        surrogate = Slot(clipped, bounds)
    if reward.kernel is soft_overlong and reward.settings["weight"] == 0.0:
        reward = Slot(task_reward)
    return replace(recipe, surrogate=surrogate, reward=reward)


def with_defaults(part: Slot) -> Slot:
    """Return the part with all settings of its kernel that act. A setting that is not given has its default.

    >>> from grpo_ref.recipes import slot
    >>> with_defaults(slot(best_of_group, ddof=0)), with_defaults(slot(best_of_group, scale=False))
    (slot(best_of_group, ddof=0, eps=1e-06, scale=True), slot(best_of_group, scale=False))
    """
    parameters = signature(part.kernel).parameters.values()
    settings = {
        each.name: part.settings.get(each.name, each.default)
        for each in parameters
        if each.kind is Parameter.KEYWORD_ONLY
        and (each.name in part.settings or each.default is not Parameter.empty)
    }
    switch, value, unused = UNUSED.get(part.kernel, ("", None, ()))
    if switch and settings[switch] == value:
        settings = {name: each for name, each in settings.items() if name not in unused}
    return Slot(part.kernel, settings)


def canonical_value(value: Any) -> str:
    """Write a part, or a setting, as canonical text."""
    if isinstance(value, Slot):
        settings = sorted(with_defaults(value).settings.items())
        shown = ", ".join(f"{name}={canonical_value(each)}" for name, each in settings)
        return f"{_name(value.kernel)}({shown})" if shown else _name(value.kernel)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Real):
        number = float(value)
        # 1 and 1.0 are one number, and so are 0.0 and -0.0.
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(canonical_value, value))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}={canonical_value(value[key])}' for key in sorted(value))}}}"
    if callable(value):
        return _name(value)
    raise ValueError(f"no objective ID: expected a number, a text or a kernel, got {value!r}")


def _name(kernel: Callable[..., Any]) -> str:
    """Return the name of a kernel, after the name of its trainer if the kernel is a trainer's own.

    Raises:
      ValueError: if the kernel is not a part of this library.
    """
    package, *modules = kernel.__module__.split(".")
    if package != __name__.split(".")[0] or "<" in kernel.__qualname__:
        raise ValueError(
            f"no objective ID: {kernel.__qualname__} is a kernel of {kernel.__module__}, not of this library,"
            " so its name does not say what it computes"
        )
    return f"{modules[2]}.{kernel.__name__}" if modules[:2] == ["explain", "dialects"] else kernel.__name__
