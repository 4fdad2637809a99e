"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one."""

from types import ModuleType

from grpo_ref.listing import Listing
from grpo_ref.recipes import catalog, chapter
from grpo_ref.recipes.catalog import (
    CISPO,
    DAPO,
    DPPO_KL,
    DPPO_TV,
    DR_GRPO,
    GDPO,
    GOPO,
    GRPO,
    GSPO,
    LITE_PPO,
    REINFORCE,
    RLOO,
    SAPO,
    TWO_GRPO,
    VESPO,
)
from grpo_ref.recipes.recipe import Recipe, Slot, slot

__all__ = [
    "RECIPES",
    "CATALOG",
    "CHAPTER",
    "Recipe",
    "Slot",
    "slot",
    "CISPO",
    "DAPO",
    "DPPO_KL",
    "DPPO_TV",
    "DR_GRPO",
    "GDPO",
    "GOPO",
    "GRPO",
    "GSPO",
    "LITE_PPO",
    "REINFORCE",
    "RLOO",
    "SAPO",
    "TWO_GRPO",
    "VESPO",
]


def _recipes_of(module: ModuleType) -> dict[str, Recipe]:
    """The recipes that are constants of a module, in their order, by their names in small letters."""
    return {name.lower(): value for name, value in vars(module).items() if isinstance(value, Recipe)}


CATALOG = Listing("recipe", _recipes_of(catalog))
"""The algorithms of the papers by name."""

CHAPTER = Listing("recipe", _recipes_of(chapter))
"""The textbook forms by name: see `grpo_ref.recipes.chapter`."""

RECIPES = Listing("recipe", CATALOG | CHAPTER)
"""Every recipe by name, of the papers and of the chapter: command line, tests, tables and plots follow it."""
