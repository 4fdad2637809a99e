"""The metrics of ROLL's workers for a batch (`loss_func`).

A sum over micro-batches is that of the whole batch.
"""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.explain.dialects.roll.kernels import scaled_by
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Measured, Metric


def weighted_pg_loss(measured: Measured) -> Array:
    """Return the loss without penalty, bonus and rl_loss_coef."""
    record, recipe = measured.record, measured.recipe
    if recipe.aggregate.kernel is scaled_by:
        recipe = replace(recipe, aggregate=recipe.aggregate.settings["aggregate"])
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    recipe = replace(recipe, kl_coef=0.0)
    return policy_loss(record.log_probs, record.advantages, record.mask, recipe=recipe, **others).loss


def kl_loss(measured: Measured) -> Array:
    """Return the penalty, averaged as the loss is, before its weight.

    It is logged without use_kl_loss too.
    """
    record, aggregate = measured.record, measured.recipe.aggregate
    if aggregate.kernel is scaled_by:
        aggregate = aggregate.settings["aggregate"]
    weights = aggregate(mask=record.mask, max_length=record.mask.shape[-1])
    values = measured.recipe.penalty(record).value
    return np.sum(weights * np.where(record.mask != 0.0, values, 0.0))


METRICS: dict[str, Metric] = {
    "actor/weighted_pg_loss@sum": weighted_pg_loss,
    "actor/kl_loss@sum": kl_loss,
    "actor/total_loss@sum": lambda measured: measured.numbers["loss"],
}
"""The metrics, by the name that is logged."""
