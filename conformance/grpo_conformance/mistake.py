"""Ask `grpo_ref.check` for the name of a mistake, if grpo_ref is installed."""

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grpo_conformance.arguments import SETTINGS
from grpo_conformance.vector import Vector, document

BATCHES = 60
"""Number of batches on which the mistake is looked for."""


def named(function: Callable[..., Any], vector: Vector, framework: str, dtype: str) -> str:
    """Return the mistakes that explain the results of a function, or "".

    Args:
      function: a loss that differs from the vectors.
      vector: one of the vectors, for the name and the settings.
      framework: "numpy", "torch" or "jax".
      dtype: precision of the arrays.

    `grpo_ref.check` tries the function on batches of its own. It knows the losses that are recipes of grpo_ref.
    """
    if vector.level != 2 or importlib.util.find_spec("grpo_ref") is None:
        return ""
    about = document(vector.name)["recipe"]
    if not about["name"]:
        return ""
    # The name of a mistake is an extra: whatever goes wrong here must not hide the difference itself.
    try:
        from grpo_ref.check import compare

        recipe = _recipe(about, vector)
        comparison = compare(
            _at_settings(function, vector),
            recipe,
            framework=framework,
            dtype=dtype,
            batches=BATCHES,
            nan_in_padding=False,
        )
    except Exception:
        return ""
    return "; or ".join(comparison.matches[:3])


def _at_settings(function: Callable[..., Any], vector: Vector) -> Callable[..., Any]:
    """Return the function with its parameters for settings bound, since `grpo_ref.check` gives arrays only."""
    signature = inspect.signature(function)
    values = {
        alias: value for name, value in vector.settings.items() for alias in (name, *SETTINGS.get(name, ()))
    }
    bound = {name: values[name] for name in signature.parameters if name in values}
    if not bound:
        return function

    def at_settings(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options, **bound)

    free = [parameter for name, parameter in signature.parameters.items() if name not in bound]
    at_settings.__signature__ = signature.replace(parameters=free)  # type: ignore[attr-defined]
    return at_settings


def _recipe(about: dict[str, Any], vector: Vector) -> Any:
    """Return the recipe of grpo_ref with the settings of the vector."""
    from grpo_ref.recipes import RECIPES, Slot

    recipe: Any = RECIPES[about["name"]]
    for name, place in about["at"].items():
        part, _, setting = place.rpartition(".")
        value = vector.settings[name]
        if not part:
            recipe = replace(recipe, **{setting: value})
        elif part in ("surrogate", "penalty", "aggregate"):
            old = getattr(recipe, part)
            recipe = replace(recipe, **{part: Slot(old.kernel, {**old.settings, setting: value})})
        else:
            corrections = tuple(
                Slot(old.kernel, {**old.settings, setting: value}) if old.kernel.__name__ == part else old
                for old in recipe.corrections
            )
            recipe = replace(recipe, corrections=corrections)
    return recipe
