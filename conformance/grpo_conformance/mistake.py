"""Ask `grpo_ref.check` for the name of a mistake, if grpo_ref is installed."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from typing import Any

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
            function, recipe, framework=framework, dtype=dtype, batches=BATCHES, nan_in_padding=False
        )
    except Exception:
        return ""
    return "; or ".join(comparison.matches[:3])


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
