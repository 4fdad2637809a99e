"""Compute the numbers that a recorded case of any trainer may hold, from its configuration and input arrays.

Every function takes the dialect, a configuration in its keys, and a record of (P, G, ...) arrays. It returns
the numbers by name. Numbers that only one trainer's cases hold are in the module of that trainer beside this
one. `kept_groups` and `shaped_rewards` are calls of several trainers.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import BATCH, masked_mean
from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.loss import policy_loss
from grpo_ref.parity.measured import Call

OPTIONAL = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "entropies", "noise")
"""Optional arguments of `policy_loss`, which are passed if the record has them."""


def loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss, its gradient and its metrics.

    The entropy bonus is a constant here, without a gradient.

    Args:
      dialect: dialect of the trainer.
      config: configuration in the trainer's keys.
      record: log_probs and mask (P, G, T), advantages (P, G), and all other arrays that the recipe reads.

    Returns:
      "loss", "grad_logp" (with respect to log_probs), and "metrics".
    """
    given = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    result = policy_loss(
        record.log_probs,
        record.advantages,
        record.mask,
        recipe=dialect.recipe(**config),
        max_length=next(iter(dialect.budget(config).values()), None),
        **given,
    )
    value, bonus = result.loss, dialect.concept(BONUS, config, 0.0)
    if bonus:
        value = value - bonus * masked_mean(record.entropies, record.mask, axis=BATCH)
    return {"loss": value, "grad_logp": result.gradient, "metrics": result.metrics}


def penalty(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the KL penalty alone, averaged as the loss is, and its gradient.

    Args:
      dialect: dialect of the trainer.
      config: configuration in the trainer's keys. The weight of the penalty is taken as 1.
      record: log_probs, ref_log_probs and mask (P, G, T).

    Returns:
      "loss" and "grad_logp".
    """
    result = policy_loss(
        record.log_probs,
        np.zeros(record.log_probs.shape[:-1]),
        record.mask,
        recipe=replace(dialect.recipe(**config), kl_coef=1.0),
        max_length=next(iter(dialect.budget(config).values()), None),
        ref_log_probs=record.ref_log_probs,
    )
    return {"loss": result.loss, "grad_logp": result.gradient}


def penalty_values(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the KL penalty of each token, from log_probs and ref_log_probs (P, G, T), as "value".

    Without a mask, every place is a token. Without old_log_probs, every ratio is 1.
    """
    filled = {"mask": np.ones_like(record.log_probs), "old_log_probs": record.log_probs} | vars(record)
    log_ratio = filled["log_probs"] - filled["old_log_probs"]
    value = dialect.recipe(**config).penalty(SimpleNamespace(**filled, log_ratio=log_ratio)).value
    return {"value": value}


def advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages, per completion or per token.

    Args:
      dialect: dialect of the trainer.
      config: configuration in the trainer's keys.
      record: rewards (P, G), or components (P, G, C) with weights (C,), or both; mask (P, G, T).

    Returns:
      "value" (P, G) or (P, G, T).
    """
    fields = {"lengths": record.mask.sum(-1)}
    if not hasattr(record, "rewards"):
        fields["rewards"] = (record.components * record.weights).sum(-1)
    return {"value": dialect.recipe(**config).advantage(SimpleNamespace(**vars(record) | fields))}


def correction(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the weights that correct the sampler's mismatch, from three (P, G, T) arrays of the record."""
    value = np.ones(record.mask.shape)
    for part in dialect.recipe(**config).corrections:
        value = value * part(record)
    return {"value": value}


def kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that is trained on as it was sampled, and 0 for the others."""
    return {"value": dialect.recipe(**config).keep(record).astype(float)}


def shaped_rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after scaling and shaping."""
    fields = vars(record) | {"lengths": record.mask.sum(-1)}
    return {"value": dialect.recipe(**config).reward(SimpleNamespace(**fields))}


def average(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the average of values (P, G, T) over the tokens as "loss", and the weights as its gradient."""
    length = next(iter(dialect.budget(config).values()), None)
    weights = dialect.recipe(**config).weights(record.mask, max_length=length)
    return {"loss": (weights * record.values).sum(), "grad_logp": weights}


CALLS: dict[str, Call] = {
    "average": average,
    "loss": loss,
    "penalty": penalty,
    "penalty values": penalty_values,
    "advantages": advantages,
    "correction": correction,
}
"""Functions by the name of the call, for the calls that every trainer has."""
