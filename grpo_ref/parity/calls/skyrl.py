"""Compute the recorded cases of SkyRL that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import (
    TOKENS,
    Array,
    array_namespace,
    masked_mean,
)
from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.filters import all_completions
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Recipe


def admitted(record: SimpleNamespace, recipe: Recipe) -> Array:
    """Return the mask without the excluded completions, (P, G, T)."""
    if recipe.admit.kernel is all_completions:
        return record.mask
    mask: Array = record.mask * recipe.admit(_with_lengths(record))[..., None]
    return mask


def _with_lengths(record: SimpleNamespace) -> SimpleNamespace:
    """Return the record with the number of tokens of each completion; 1 if there is no mask."""
    xp = array_namespace(record.rewards)
    lengths = record.mask.sum(TOKENS) if hasattr(record, "mask") else xp.ones_like(record.rewards)
    return SimpleNamespace(**vars(record) | {"lengths": lengths})


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of a mini-batch.

    The bonus is a mean over the tokens of each micro-batch, then over these.
    """
    recipe = dialect.recipe(**config)
    mask = admitted(record, recipe)
    given = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    length = next(iter(dialect.budget(config).values()), None)
    result = policy_loss(record.log_probs, record.advantages, mask, recipe=recipe, max_length=length, **given)
    value, bonus = result.loss, dialect.concept(BONUS, config, 0.0)
    if bonus:
        size = dialect.settings(config).micro_train_batch_size_per_gpu
        value = value - bonus * _mean_of_means(record.entropies, mask, size)
    return {"loss": value, "grad_logp": result.gradient, "metrics": result.metrics, "admitted": mask}


def _mean_of_means(values: Array, mask: Array, size: int) -> Array:
    """Return the mean over micro-batches, weighted by their completions, of the means over their tokens."""
    rows, length = mask.shape[0] * mask.shape[1], mask.shape[-1]
    flat, present = values.reshape(rows, length), mask.reshape(rows, length)
    parts = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
    each = [
        masked_mean(flat[part], present[part], axis=(-2, -1)) * (part.stop - part.start) for part in parts
    ]
    return sum(each) / rows


def _shaped_rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after the length penalties."""
    return {"value": dialect.recipe(**config).reward(_with_lengths(record))}


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that is trained on, and 0 for the others."""
    return {"value": dialect.recipe(**config).keep(_with_lengths(record)).astype(float)}


def _admitted_completions(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return 1 for each completion whose tokens count, and 0 for the others."""
    return {"value": dialect.recipe(**config).admit(_with_lengths(record)).astype(float)}


CALLS: dict[str, Call] = {
    "loss": _loss,
    "shaped rewards": _shaped_rewards,
    "kept groups": _kept_groups,
    "admitted completions": _admitted_completions,
}
"""Calls that only SkyRL's recorded cases have, and its loss, whose bonus depends on the micro-batches."""
