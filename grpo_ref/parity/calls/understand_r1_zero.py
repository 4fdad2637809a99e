"""Compute the recorded cases of understand-r1-zero that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import Floats
from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.calls.common import loss
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Recipe


def admitted(record: SimpleNamespace, recipe: Recipe) -> Floats:
    """Return the mask without the excluded completions, (P, G, T)."""
    if not hasattr(record, "ended"):
        mask: Floats = record.mask
        return mask
    fields = {"rewards": record.ended} | vars(record)
    left: Floats = record.mask * recipe.admit(SimpleNamespace(**fields))[..., None]
    return left


def _loss_of_admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss over the completions that the recipe admits, if some were truncated."""
    mask = admitted(record, dialect.recipe(**config))
    return loss(dialect, config, SimpleNamespace(**vars(record) | {"mask": mask}))


def _shaped_advantages(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the advantages computed from the verifier's rewards, which are shaped first."""
    recipe = dialect.recipe(**config)
    fields = vars(record) | {"rewards": recipe.reward(record)}
    return {"value": recipe.advantage(SimpleNamespace(**fields))}


CALLS: dict[str, Call] = {
    "loss of what is admitted": _loss_of_admitted,
    "advantages of shaped rewards": _shaped_advantages,
}
"""Calls that only understand-r1-zero's recorded cases have."""
