"""Compute the recorded cases of ms-swift that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages import batch_normalized, normalized_then_summed
from grpo_ref.advantages.moments import masked_moments
from grpo_ref.arrays import Array, at_least
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects.ms_swift.kernels import SMALL
from grpo_ref.parity.calls import common
from grpo_ref.parity.calls.common import kept_groups, shaped_rewards
from grpo_ref.parity.measured import Call


def advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages.

    A missing reward (None, here NaN) counts as 0 in a sum, and is excluded with gdpo.

    Args:
      dialect: dialect of ms-swift.
      config: configuration in its keys.
      record: rewards (P, G), or components (P, G, C) with weights (C,); mask (P, G, T).

    Returns:
      "value" (P, G), and "rewards" (P, G).
    """
    components, weights = functions(record)
    part = dialect.recipe(**config).advantage
    rewards = (np.nan_to_num(components, nan=0.0) * weights).sum(-1)
    if part.kernel is normalized_then_summed and np.isnan(components).any():
        return {"value": _of_what_is_scored(components, weights), "rewards": rewards}
    fields = {"components": components, "weights": weights, "rewards": rewards}
    return common.advantages(dialect, config, SimpleNamespace(**vars(record) | fields)) | {"rewards": rewards}


def functions(record: SimpleNamespace) -> tuple[Array, Array]:
    """Return the score of each reward function, (P, G, C), and its weight, (C,).

    A plain sum counts as one function.
    """
    if hasattr(record, "components"):
        return record.components, record.weights
    return record.rewards[..., None], np.ones(1, dtype=record.rewards.dtype)


def _of_what_is_scored(components: Array, weights: Array) -> Array:
    """Compute gdpo's advantages with missing scores: each function compares only the scores it gave; others add 0."""
    scored = ~np.isnan(components)
    mean, variance = masked_moments(components, scored, axis=-2, ddof=1)
    enough = scored & (np.count_nonzero(scored, axis=-2, keepdims=True) > 1)
    scores = np.where(enough, (components - mean) / at_least(np.sqrt(variance) + SMALL, SMALL), 0.0)
    return batch_normalized((scores * weights).sum(-1), ddof=1, eps=SMALL)


def _loss_of_admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss over the completions that the recipe admits, if some were truncated."""
    fields = {"rewards": record.ended} | vars(record)
    admitted = dialect.recipe(**config).admit(SimpleNamespace(**fields))
    mask = record.mask * admitted[..., None]
    kept = SimpleNamespace(**vars(record) | {"mask": mask})
    return common.loss(dialect, config, kept) | {"admitted": mask}


CALLS: dict[str, Call] = {
    "advantages": advantages,
    "shaped rewards": shaped_rewards,
    "kept groups": kept_groups,
    "loss of what is admitted": _loss_of_admitted,
}
"""Calls of ms-swift's recorded cases that other trainers' cases do not have, or that differ there."""
