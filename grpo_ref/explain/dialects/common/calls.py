"""Calls of recorded cases that several trainers have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.dialect import Dialect


def kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that is trained on as it was sampled, and 0 for the others."""
    return {"value": dialect.recipe(**config).keep(record).astype(float)}


def shaped_rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after scaling and shaping."""
    fields = vars(record) | {"lengths": record.mask.sum(-1)}
    return {"value": dialect.recipe(**config).reward(SimpleNamespace(**fields))}
