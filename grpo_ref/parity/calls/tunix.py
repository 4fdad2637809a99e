"""Compute the recorded cases of Tunix that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.measured import Call


def _shaped(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after the length penalty."""
    return {"value": dialect.recipe(**config).reward(record)}


CALLS: dict[str, Call] = {"shaped rewards": _shaped}
"""Calls that only Tunix's recorded cases have."""
