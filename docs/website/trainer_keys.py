"""The keys that make each trainer compute a recipe, and the parts that still differ."""

import re

from grpo_ref.explain.conversion import Conversion, nearest
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import RECIPES
from website.kept import of_each_recipe
from website.same_numbers import is_same

BUDGET = 20480
"""DAPO's generation budget in tokens. The buffer of its overlong penalty is 0.2 of it, 4096 tokens."""
Everywhere = dict[str, Conversion]
"""Name of a dialect -> the trainer's nearest configuration."""


def title(dialect: Dialect) -> str:
    """Return a trainer's name without its version.

    >>> title(DIALECTS["open_instruct"])
    'Open Instruct'
    """
    return re.split(r" (?=[\da-f.]{6,}\b)", dialect.version)[0]


def nearest_of_all(code: str) -> dict[str, Everywhere]:
    """Return the nearest configuration of each trainer, for each recipe.

    Args:
      code: hash of the code. A cached result is used only if its hash is the same.
    """
    return of_each_recipe(_nearest, code)


def _nearest(name: str, code: str) -> Everywhere:
    return {dialect: nearest(DIALECTS[dialect], RECIPES[name], max_length=BUDGET) for dialect in DIALECTS}


def table(conversions: Everywhere) -> str:
    """Return a Markdown table with each trainer's keys for one recipe."""
    rows = (_row(DIALECTS[dialect].version, dialect, each) for dialect, each in conversions.items())
    return "\n".join(["| trainer | keys | differences |", "|---|---|---|", *rows])


def _row(version: str, dialect: str, conversion: Conversion) -> str:
    lost = "<br>".join(_loss(part, *texts) for part, texts in conversion.lost.items())
    return f"| [{version}](../trainers/{dialect}.md) | {keys(conversion)} | {lost or 'none'} |"


def keys(conversion: Conversion) -> str:
    """Return the keys of a configuration, each on its own line of a table cell."""
    return "<br>".join(code(f"{key}={value!r}") for key, value in conversion.config.items()) or "the defaults"


def _loss(part: str, wanted: str, actual: str) -> str:
    return f"{part}: {code(actual)} instead of {code(wanted)}"


def code(text: str) -> str:
    """Return code for a cell of a table."""
    return f"`{text}`".replace("|", r"\|")


def differing(name: str, dialect: str, conversion: Conversion) -> list[str]:
    """Return the parts for which a trainer computes other numbers than a recipe.

    >>> differing("dr_grpo", "trl", nearest(DIALECTS["trl"], RECIPES["dr_grpo"]))
    []
    """
    actual, recipe = DIALECTS[dialect].recipe(**conversion.config), RECIPES[name]
    return [part for part in conversion.lost if not is_same(recipe, actual, part)]
