"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one."""

from grpo_ref.recipes.catalog import (
    CATALOG,
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
from grpo_ref.recipes.chapter import CHAPTER
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

RECIPES: dict[str, Recipe] = CATALOG | CHAPTER
"""Every algorithm by name; the command line, the tests, the tables and the plots enumerate this."""
