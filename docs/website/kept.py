"""Compute slow results for every recipe, and cache them until the code changes."""

from collections.abc import Callable
from typing import TypeVar

from joblib import Memory, Parallel, delayed

from grpo_ref.recipes import RECIPES
from website.tree import CACHE

Result = TypeVar("Result")


def of_each_recipe(compute: Callable[[str, str], Result], code: str) -> dict[str, Result]:
    """Return the result for each recipe, by name.

    Args:
      compute: a function of the name of a recipe and `code`, at the top level of a module.
      code: hash of the code. A cached result is used only if its hash is the same.
    """
    cached = Memory(CACHE, verbose=0).cache(compute)
    results = Parallel(n_jobs=-1)(delayed(cached)(name, code) for name in RECIPES)
    return dict(zip(RECIPES, results, strict=True))
