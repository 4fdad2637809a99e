"""Two configurations side by side, of one trainer or of two: each difference, with what it does to the gradient."""

import math
from dataclasses import replace
from typing import NamedTuple

from grpo_ref.explain.effect import change
from grpo_ref.recipes import Recipe


class Difference(NamedTuple):
    """One part in which two recipes differ.

    Attributes:
      part: its name.
      ours, theirs: what each has there.
      change: how far the gradient on a typical batch is another with their part in our recipe, see `change`;
        NaN if theirs does not fit into ours alone.
    """

    part: str
    ours: str
    theirs: str
    change: float


def contrast(ours: Recipe, theirs: Recipe, group_size: int = 8) -> list[Difference]:
    """The differences, those that change the gradient most first.

    Args:
      ours, theirs: the recipes.
      group_size: completions per prompt of the typical batch.

    >>> from grpo_ref import DAPO, GRPO
    >>> [(found.part, round(found.change, 2)) for found in contrast(GRPO, DAPO)][:2]
    [('reward', 0.6), ('aggregate', 0.57)]
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
    """The change of the gradient where this part alone is theirs."""
    try:
        return change(ours, replace(ours, **{part: getattr(theirs, part)}), group_size)
    except (ValueError, TypeError):
        return math.nan
