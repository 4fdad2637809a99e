"""The surrogates in a page: what each recipe's adds to the objective, and how hard it pushes, at a ratio."""

from typing import Any

import numpy as np

from grpo_ref.plots.one_token import surrogate_at
from grpo_ref.recipes import RECIPES, Slot
from grpo_ref.surrogates import clip_cov, kl_cov

LARGEST = 3.0
"""The largest ratio of the curves."""
POINTS = 300
OF_A_BATCH = (clip_cov, kl_cov)
"""These choose among the tokens of a batch: one token by itself has neither value nor slope."""


def families() -> list[dict[str, Any]]:
    """Every surrogate once, with its settings as text and the recipes that have it."""
    texts = dict.fromkeys(str(recipe.surrogate) for recipe in RECIPES.values())
    return [
        {"surrogate": text, "recipes": [name for name, one in RECIPES.items() if str(one.surrogate) == text]}
        for text in texts
    ]


def points(ratio: float, advantage: float) -> list[dict[str, float] | None]:
    """Value and slope of each surrogate for one token, in the order of `families`; None for those of a batch.

    Args:
      ratio: πθ/πold, above 0 and below 5: the token had probability 0.2 when it was sampled.
      advantage: of the token.
    """
    found = [_at(np.array([ratio]), part, advantage) for part in _parts()]
    return [None if one is None else {name: values[0] for name, values in one.items()} for one in found]


def curves(advantage: float) -> dict[str, Any]:
    """The same at many ratios: "ratios", and for each surrogate a list of values and one of slopes."""
    ratios = np.linspace(LARGEST / POINTS, LARGEST, POINTS)
    return {"ratios": ratios.tolist(), "curves": [_at(ratios, part, advantage) for part in _parts()]}


def _parts() -> list[Slot]:
    return [RECIPES[family["recipes"][0]].surrogate for family in families()]


def _at(ratios: Any, part: Slot, advantage: float) -> dict[str, list[float]] | None:
    if part.kernel in OF_A_BATCH:
        return None
    curve = surrogate_at(part, ratios, advantage)
    return {"value": curve.value.tolist(), "slope": curve.slope.tolist()}
