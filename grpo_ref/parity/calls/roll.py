"""Compute the recorded cases of ROLL that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import TOKENS
from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.parity.calls import common
from grpo_ref.parity.calls.common import kept_groups
from grpo_ref.parity.measured import Call


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss. The bonus is averaged as the loss is, and has no gradient here."""
    bare = {key: value for key, value in config.items() if key not in ("entropy_loss_coef", "rl_loss_coef")}
    numbers = common.loss(dialect, {**config, "entropy_loss_coef": 0.0}, record)
    bonus = dialect.concept(BONUS, config, 0.0)
    if bonus > 0.0:
        weights = dialect.recipe(**bare).weights(record.mask)
        values = np.where(record.mask != 0.0, record.entropies, 0.0)
        numbers["loss"] = numbers["loss"] - bonus * np.sum(weights * values)
    return numbers


def _admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each completion that is trained on, and 0 for the others.

    The budget is the width of the mask.
    """
    fields = vars(record) | {"lengths": record.mask.sum(-1), "max_length": record.mask.shape[TOKENS]}
    return {"value": dialect.recipe(**config).admit(SimpleNamespace(**fields)).astype(float)}


CALLS: dict[str, Call] = {"loss": _loss, "admitted completions": _admitted, "kept groups": kept_groups}
"""Calls of ROLL's recorded cases that other trainers' cases do not have, or that differ there."""
