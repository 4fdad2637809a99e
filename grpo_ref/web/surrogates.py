"""The surrogates in a page: every one with its settings and the recipes that use it.

The page computes values and slopes itself (`surrogate_values.ts`), so it needs no Python. It shows the
recipes of papers and trainers, without the textbook forms.
"""

import inspect
from typing import Any

from grpo_ref.recipes import CATALOG, Slot
from grpo_ref.recipes.titles import title_of


def families() -> list[dict[str, Any]]:
    """Return every surrogate once: "surrogate", its settings as text; "recipes", the titles of its recipes by
    name; "kernel", its name; and "settings", all its numbers with the defaults.
    """
    recipes: dict[str, dict[str, str]] = {}
    for name, recipe in CATALOG.items():
        recipes.setdefault(str(recipe.surrogate), {})[name] = title_of(name)
    return [
        {"surrogate": text, "recipes": titles, **_numbers(CATALOG[next(iter(titles))].surrogate)}
        for text, titles in recipes.items()
    ]


def _numbers(part: Slot) -> dict[str, Any]:
    parameters = inspect.signature(part.kernel).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    numbers = {name: value for name, value in {**defaults, **part.settings}.items() if _is_number(value)}
    return {"kernel": part.kernel.__name__, "settings": numbers}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < float("inf")
