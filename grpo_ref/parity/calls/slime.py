"""Compute the recorded cases of slime that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.parity.calls.common import kept_groups, loss
from grpo_ref.parity.measured import Call


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss, whose entropy bonus is averaged as the loss is."""
    bonus = dialect.concept(BONUS, config, 0.0)
    numbers = loss(dialect, {**config, "entropy_coef": 0.0}, record)
    if bonus:
        recipe = dialect.recipe(**config)
        weights = recipe.weights(record.mask)
        if recipe.penalty_aggregate is not None:
            kept = np.prod([part(record) for part in recipe.corrections], axis=0)
            weights = recipe.penalty_aggregate(mask=record.mask, correction=kept)
        numbers["loss"] = numbers["loss"] - bonus * (weights * record.entropies).sum()
    return numbers


CALLS: dict[str, Call] = {"loss": _loss, "kept groups": kept_groups}
"""Calls that only slime's recorded cases have, and the loss with its own average of the entropy."""
