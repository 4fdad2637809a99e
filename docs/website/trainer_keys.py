"""How each trainer says a recipe: the keys to set, and what it computes otherwise."""

import re

from grpo_ref.explain.convert import Conversion, nearest
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import RECIPES
from website.kept import of_each_recipe
from website.same_numbers import is_same

Everywhere = dict[str, Conversion]
"""The nearest configuration of each trainer, by the name of its dialect."""


def title(dialect: Dialect) -> str:
    """A trainer's name without its version.

    >>> title(DIALECTS["open_instruct"])
    'Open Instruct'
    """
    return re.split(r" (?=[\da-f.]{6,}\b)", dialect.version)[0]


def nearest_of_all(code: str) -> dict[str, Everywhere]:
    """For each recipe the nearest configuration of each trainer.

    Args:
      code: what is kept from the last time is used only if this hash of the code is the same.
    """
    return of_each_recipe(_nearest, code)


def _nearest(name: str, code: str) -> Everywhere:
    return {dialect: nearest(DIALECTS[dialect], RECIPES[name]) for dialect in DIALECTS}


def table(found: Everywhere) -> str:
    """How every trainer says one recipe, as a Markdown table."""
    rows = (_row(DIALECTS[dialect].version, dialect, each) for dialect, each in found.items())
    return "\n".join(["| trainer | keys | what differs |", "|---|---|---|", *rows])


def _row(version: str, dialect: str, found: Conversion) -> str:
    lost = "<br>".join(_loss(part, *texts) for part, texts in found.lost.items())
    return f"| [{version}](../trainers/{dialect}.md) | {keys(found)} | {lost or 'nothing'} |"


def keys(found: Conversion) -> str:
    """The keys of a configuration, each in a line of a cell."""
    return "<br>".join(code(f"{key}={value!r}") for key, value in found.config.items()) or "its defaults"


def _loss(part: str, ours: str, theirs: str) -> str:
    return f"{part}: {code(theirs)} instead of {code(ours)}"


def code(text: str) -> str:
    """Code in a cell of a table."""
    return f"`{text}`".replace("|", r"\|")


def differing(name: str, dialect: str, found: Conversion) -> list[str]:
    """The parts in which a trainer computes other numbers than a recipe.

    >>> differing("dr_grpo", "trl", nearest(DIALECTS["trl"], RECIPES["dr_grpo"]))
    []
    """
    theirs, ours = DIALECTS[dialect].recipe(**found.config), RECIPES[name]
    return [part for part in found.lost if not is_same(ours, theirs, part)]
