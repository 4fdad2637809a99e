"""Name the mistake of a function that differs from the vectors."""

import importlib.util
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_conformance.arguments import SETTINGS
from grpo_conformance.comparison import Outcome
from grpo_conformance.vector import Vector, document

BATCHES = 60
"""Number of batches on which `grpo_ref.check` looks for the mistake."""
FACTORS: dict[str, Callable[[Vector], float]] = {
    "the sign: return minus the mean, since a loss is minimized": lambda vector: -1.0,
    "the sum over the tokens without the mean: divide by mask.sum()": lambda vector: vector.tokens,
    "the sum over the completions without the mean: divide by their number": lambda vector: _rows(vector),
    "a mean that counts the padding: divide by mask.sum()": lambda vector: (
        vector.tokens / vector.inputs["mask"].size
    ),
}
"""Mistake -> the factor by which it changes the loss of a vector."""


def named(function: Callable[..., Any], outcomes: Sequence[Outcome], framework: str, dtype: str) -> str:
    """Return the mistake that explains the results of a function, or "".

    Args:
      function: a function that differs from the vectors.
      outcomes: its results.
      framework: "numpy", "torch" or "jax".
      dtype: precision of the arrays.
    """
    return _factor(outcomes) or _checked(function, outcomes[0].vector, framework, dtype)


def _factor(outcomes: Sequence[Outcome]) -> str:
    """Return the mistake that multiplies the loss of every vector by its factor, or ""."""
    losses = [
        (each, each.result.loss, each.vector.expected["loss"])
        for each in outcomes
        if each.result is not None and each.vector.expected.get("loss") and "mask" in each.vector.inputs
    ]
    for mistake, factor in FACTORS.items():
        agree = [
            np.isclose(loss, factor(each.vector) * expected, rtol=max(each.rtol, each.vector.rtol), atol=0.0)
            for each, loss, expected in losses
        ]
        if agree and all(agree):
            return mistake
    return ""


def _rows(vector: Vector) -> int:
    return len(vector.inputs["mask"])


def _checked(function: Callable[..., Any], vector: Vector, framework: str, dtype: str) -> str:
    """Return the mistakes that `grpo_ref.check` finds, or "". It needs grpo_ref, and knows the losses that are its recipes.

    It tries the function on batches of its own.
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
