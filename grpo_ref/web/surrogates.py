"""The surrogates in a page: the value and the slope of each recipe's surrogate at a ratio.

The page shows the recipes of papers and trainers, without the textbook forms.
"""

from typing import Any

import numpy as np

from grpo_ref.plots.one_token import surrogate_at
from grpo_ref.recipes import CATALOG, Slot
from grpo_ref.recipes.titles import title_of
from grpo_ref.surrogates import clip_cov, gvpo, kl_cov, real

LARGEST = 3.0
"""Largest ratio of the curves."""
POINTS = 300
OF_A_BATCH = (clip_cov, kl_cov, real, gvpo)
"""Surrogates that compare the tokens of a batch, or the completions of a group.

For a single token they have neither value nor slope.
"""


def families() -> list[dict[str, Any]]:
    """Return every surrogate once, as text with its settings, and the titles of its recipes by name."""
    recipes: dict[str, dict[str, str]] = {}
    for name, recipe in CATALOG.items():
        recipes.setdefault(str(recipe.surrogate), {})[name] = title_of(name)
    return [{"surrogate": text, "recipes": titles} for text, titles in recipes.items()]


def points(ratio: float, advantage: float) -> list[dict[str, float] | None]:
    """Return value and slope of each surrogate for one token, in the order of `families`; None for those of a
    batch.

    Args:
      ratio: πθ/πold, above 0 and below 5: the token had probability 0.2 when it was sampled.
      advantage: advantage of the token.
    """
    found = [_curve_at(np.array([ratio]), part, advantage) for part in _parts()]
    return [None if one is None else {name: values[0] for name, values in one.items()} for one in found]


def curves(advantage: float) -> dict[str, Any]:
    """Return many ratios, and for each surrogate a list of values and a list of slopes at these ratios."""
    ratios = np.linspace(LARGEST / POINTS, LARGEST, POINTS)
    return {"ratios": ratios.tolist(), "curves": [_curve_at(ratios, part, advantage) for part in _parts()]}


def _parts() -> list[Slot]:
    return [CATALOG[next(iter(family["recipes"]))].surrogate for family in families()]


def _curve_at(ratios: Any, part: Slot, advantage: float) -> dict[str, list[float]] | None:
    if part.kernel in OF_A_BATCH:
        return None
    curve = surrogate_at(part, ratios, advantage)
    return {"value": curve.value.tolist(), "slope": curve.slope.tolist()}
