"""Compare two configurations, of one trainer or of two: list each difference and its effect on the gradient."""

import math
from dataclasses import replace
from typing import NamedTuple

from grpo_ref.explain.gradient_change import change
from grpo_ref.recipes import Recipe


class Difference(NamedTuple):
    """One part in which two recipes differ.

    Attributes:
      part: name of the part.
      ours, theirs: the part in the first and in the second recipe.
      change: relative change of the gradient on a typical batch if the first recipe takes this part from the
        second, see `change`; NaN if the part cannot be exchanged alone.
    """

    part: str
    ours: str
    theirs: str
    change: float


def contrast(ours: Recipe, theirs: Recipe, group_size: int = 8) -> list[Difference]:
    """Return the differences of two recipes, those that change the gradient most first.

    Args:
      ours, theirs: the recipes.
      group_size: completions per prompt of the typical batch.

    >>> from grpo_ref import DAPO, GRPO
    >>> [(found.part, round(found.change, 2)) for found in contrast(GRPO, DAPO)][:2]
    [('aggregate', 0.57), ('reward', 0.47)]
    """
    left, right = ours.differences(theirs), theirs.differences(ours)
    silent = {"penalty", "penalty_aggregate"} if ours.kl_coef == theirs.kl_coef == 0.0 else set()
    found = [
        Difference(part, left[part], right[part], _alone(ours, theirs, part, group_size))
        for part in left
        if part not in silent
    ]
    return sorted(
        found, key=lambda difference: -(0.0 if math.isnan(difference.change) else difference.change)
    )


def _alone(ours: Recipe, theirs: Recipe, part: str, group_size: int) -> float:
    """Return the change of the gradient if only this part is taken from the other recipe."""
    try:
        return change(ours, replace(ours, **{part: getattr(theirs, part)}), group_size)
    except (ValueError, TypeError):
        return math.nan
