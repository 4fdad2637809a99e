"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one."""

from types import ModuleType

from grpo_ref.listing import Listing
from grpo_ref.recipes import catalog, chapter
from grpo_ref.recipes.catalog import (
    CISPO,
    CLIP_COV,
    DAPO,
    DECOUPLED_PPO,
    DPPO_KL,
    DPPO_TOP_KL,
    DPPO_TOP_TV,
    DPPO_TV,
    DR_GRPO,
    DRO,
    GDPO,
    GIGPO,
    GLM_5,
    GMPO,
    GOPO,
    GPG,
    GRPO,
    GSPO,
    GSPO_TOKEN,
    HIGH_ENTROPY,
    ICEPOP,
    INTELLECT_2,
    KL_COV,
    LITE_PPO,
    LUSPO,
    M2PO,
    MAXRL,
    MIS,
    MT_GRPO,
    OPD,
    OPD_RL,
    OPO,
    PASS_AT_K,
    PROCESS_GRPO,
    REINFORCE,
    REINFORCE_PP,
    REINFORCE_PP_BASELINE,
    RLOO,
    SAPO,
    TIS,
    TWO_GRPO,
    VESPO,
)
from grpo_ref.recipes.chapter import (
    BOOK_CISPO,
    BOOK_DAPO,
    BOOK_DPPO_KL,
    BOOK_DPPO_TOP_KL,
    BOOK_DPPO_TOP_TV,
    BOOK_DPPO_TV,
    BOOK_DR_GRPO,
    BOOK_GDPO,
    BOOK_GOPO,
    BOOK_MIS,
    BOOK_SAPO,
    BOOK_VESPO,
)
from grpo_ref.recipes.recipe import Recipe, Slot, slot

__all__ = [
    "RECIPES",
    "CATALOG",
    "CHAPTER",
    "Recipe",
    "Slot",
    "slot",
    "GRPO",
    "DR_GRPO",
    "DAPO",
    "LITE_PPO",
    "TWO_GRPO",
    "INTELLECT_2",
    "GMPO",
    "GSPO",
    "GSPO_TOKEN",
    "LUSPO",
    "CISPO",
    "SAPO",
    "VESPO",
    "DPPO_TV",
    "DPPO_KL",
    "DPPO_TOP_TV",
    "DPPO_TOP_KL",
    "CLIP_COV",
    "KL_COV",
    "HIGH_ENTROPY",
    "REINFORCE",
    "RLOO",
    "REINFORCE_PP",
    "REINFORCE_PP_BASELINE",
    "GPG",
    "OPO",
    "DRO",
    "PROCESS_GRPO",
    "GDPO",
    "GOPO",
    "MAXRL",
    "PASS_AT_K",
    "GIGPO",
    "MT_GRPO",
    "TIS",
    "MIS",
    "ICEPOP",
    "M2PO",
    "GLM_5",
    "DECOUPLED_PPO",
    "OPD",
    "OPD_RL",
    "BOOK_DR_GRPO",
    "BOOK_CISPO",
    "BOOK_SAPO",
    "BOOK_VESPO",
    "BOOK_DPPO_TV",
    "BOOK_DPPO_KL",
    "BOOK_DPPO_TOP_TV",
    "BOOK_DPPO_TOP_KL",
    "BOOK_DAPO",
    "BOOK_MIS",
    "BOOK_GDPO",
    "BOOK_GOPO",
]


def _recipes_of(module: ModuleType) -> dict[str, Recipe]:
    """The recipes of a module in their order, by their names in lower case."""
    return {name.lower(): value for name, value in vars(module).items() if isinstance(value, Recipe)}


CATALOG = Listing("recipe", _recipes_of(catalog))
"""The algorithms of the papers by name."""

CHAPTER = Listing("recipe", _recipes_of(chapter))
"""The recipes of a book chapter on GRPO (2026, not public) by name: see `grpo_ref.recipes.chapter`."""

RECIPES = Listing("recipe", CATALOG | CHAPTER)
"""Every recipe by name, in the order of all tables: those of the papers, then those of the book chapter."""
