"""Compute the recorded cases of NeMo-RL that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import (
    Floats,
    is_set,
)
from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.calls.common import loss, shaped_rewards
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Recipe


def _taking_part(record: SimpleNamespace, recipe: Recipe) -> Floats:
    """Return 1 for the completions that the filters keep, (P, G)."""
    ended = {"ended": is_set(record.ended)} if hasattr(record, "ended") else {}
    fields = SimpleNamespace(**{"rewards": record.mask[..., 0]} | vars(record) | ended)
    left: Floats = (recipe.admit(fields) & recipe.keep(fields)[..., None]).astype(record.mask.dtype)
    return left


def _admitted(record: SimpleNamespace, recipe: Recipe) -> SimpleNamespace:
    """Return the record with the mask of the completions that take part."""
    mask = record.mask * _taking_part(record, recipe)[..., None]
    return SimpleNamespace(**vars(record) | {"mask": mask})


def _loss_of_admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss after the filters of completions."""
    return loss(dialect, config, _admitted(record, dialect.recipe(**config)))


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each completion that dynamic sampling keeps, and 0 for the others."""
    return {"value": _taking_part(record, dialect.recipe(**config))}


def _all_advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages after scaling, shaping and filters; 0 for excluded completions."""
    recipe = dialect.recipe(**config)
    components = getattr(record, "components", record.rewards[..., None])
    fields = {"components": components, "weights": np.ones(components.shape[-1])}
    fields = vars(record) | fields | {"lengths": record.mask.sum(-1)}
    before = SimpleNamespace(**fields)
    left = _admitted(before, recipe).mask
    after = SimpleNamespace(**fields | {"rewards": recipe.reward(before), "mask": left})
    value = recipe.advantage(after)
    return {"value": (value if value.ndim == left.ndim else value[..., None]) * left}


CALLS: dict[str, Call] = {
    "loss of what is admitted": _loss_of_admitted,
    "shaped rewards": shaped_rewards,
    "kept completions": _kept_groups,
    "advantages from the verifier's rewards": _all_advantages,
}
"""Calls that only NeMo-RL's recorded cases have."""
