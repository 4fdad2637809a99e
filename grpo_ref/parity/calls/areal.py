"""Compute the recorded cases of AReaL that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.measured import Call


def _fields(record: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(**vars(record) | {"lengths": record.mask.sum(-1)})


def _rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after penalty, bias, scale and limit."""
    return {"value": dialect.recipe(**config).reward(_fields(record))}


def _advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages, computed from the verifier's rewards and including their shaping."""
    recipe, fields = dialect.recipe(**config), _fields(record)
    fields.rewards = recipe.reward(fields)
    return {"value": recipe.advantage(fields)}


CALLS: dict[str, Call] = {"advantages": _advantages, "shaped rewards": _rewards}
"""Calls that only AReaL's recorded cases have, or that differ from the common ones."""
