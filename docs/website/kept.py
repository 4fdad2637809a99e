"""What takes long, computed for every recipe and kept until the code changes."""

from collections.abc import Callable
from typing import TypeVar

from joblib import Memory, Parallel, delayed

from grpo_ref.recipes import RECIPES
from website.tree import CACHE

Result = TypeVar("Result")


def of_each_recipe(compute: Callable[[str, str], Result], code: str) -> dict[str, Result]:
    """The result for each recipe, by its name.

    Args:
      compute: is given the name of a recipe, and `code`; a function of a module.
      code: what is kept from the last time is used only if this hash of the code is the same.
    """
    kept = Memory(CACHE, verbose=0).cache(compute)
    results = Parallel(n_jobs=-1)(delayed(kept)(name, code) for name in RECIPES)
    return dict(zip(RECIPES, results, strict=True))
