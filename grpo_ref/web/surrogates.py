"""The surrogates in a page: every one with its settings and the recipes that use it.

The page computes values and slopes itself (`surrogate_values.ts`), so it needs no Python. It shows the
recipes of papers and trainers, without the textbook forms.
"""

import inspect
from typing import Any

from grpo_ref.levels import token_level
from grpo_ref.recipes import CATALOG, Recipe, Slot
from grpo_ref.recipes.titles import title_of

LOG_PROBABILITY = ("reinforce", "squared_ratio")
"""Surrogates whose value has the logarithm of the probability instead of the ratio."""
WEIGHTED = ("cispo", "vespo", "dppo_tv", "dppo_kl", "dppo_top_tv", "dppo_top_kl", "topr", "rollout_is")
"""Surrogates whose value is a weight times that logarithm, where the weight counts as a constant."""
OF_TOKENS, OF_GROUP = ("clip_cov", "kl_cov"), ("real", "gvpo")
"""Surrogates that compare the tokens of a batch, and the completions of a group."""


def families() -> list[dict[str, Any]]:
    """Return every surrogate once: "surrogate", its settings as text; "recipes", the titles of its recipes by
    name; "kernel", its name; "settings", all its numbers with the defaults; and "notes", what a reader of
    value and slope has to know.
    """
    recipes: dict[str, dict[str, str]] = {}
    for name, recipe in CATALOG.items():
        recipes.setdefault(str(recipe.surrogate), {})[name] = title_of(name)
    return [
        {
            "surrogate": text,
            "recipes": titles,
            **_numbers(CATALOG[next(iter(titles))].surrogate),
            "notes": notes_on(CATALOG[next(iter(titles))]),
        }
        for text, titles in recipes.items()
    ]


def notes_on(recipe: Recipe) -> list[str]:
    """Return what a reader of a recipe's value and slope has to know."""
    kernel = recipe.surrogate.kernel.__name__
    notes = []
    if kernel in OF_TOKENS:
        notes.append("It chooses among the tokens of a batch, so a single token has no value or slope.")
    if kernel in OF_GROUP:
        notes.append("It compares the completions of a group, so a single token has no value or slope.")
    if kernel in LOG_PROBABILITY:
        notes.append(
            "The value has log πθ instead of ρ. Compare the slope with other recipes, not the value."
        )
    if kernel in WEIGHTED:
        notes.append(
            "The value is a weight times log πθ. The slope is the weight, which counts as a constant. "
            "So it is not the slope of the drawn value; compare the slope with other recipes, not the value."
        )
    if recipe.level is not token_level and kernel not in OF_GROUP:
        notes.append("The ratio is that of the whole sequence. Here the sequence has one token.")
    return notes


def _numbers(part: Slot) -> dict[str, Any]:
    parameters = inspect.signature(part.kernel).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    numbers = {name: value for name, value in {**defaults, **part.settings}.items() if _is_number(value)}
    return {"kernel": part.kernel.__name__, "settings": numbers}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < float("inf")
