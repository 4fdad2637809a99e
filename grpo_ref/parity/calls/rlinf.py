"""Compute the recorded cases of RLinf that other trainers' cases do not have."""

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import (
    BATCH,
    Array,
    batch_sum,
    where_mask,
)
from grpo_ref.corrections import early_stop
from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.explain.dialects.rlinf.kernels import nan_where_empty
from grpo_ref.explain.settings import Settings
from grpo_ref.loss import Differentiated, batch_of, differentiate, policy_loss
from grpo_ref.parity.calls.common import OPTIONAL, penalty
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Recipe, Slot, slot


def judged(recipe: Recipe, record: SimpleNamespace, *, stops: bool = True) -> Differentiated:
    """Differentiate a recipe on a record, with its early stop or without.

    Args:
      recipe: a recipe of RLinf.
      record: log_probs, mask (P, G, T) and advantages (P, G) or (P, G, T), and all other arrays that the
        recipe reads.
      stops: if false, an early stop is ignored.
    """
    kept = tuple(part for part in recipe.corrections if stops or part.kernel is not early_stop)
    batch = batch_of(record.log_probs, record.advantages, record.mask, **_given(record))
    return differentiate(batch, replace(recipe, corrections=kept))


def averages(recipe: Recipe) -> Slot:
    """Return the average of the penalty and the entropy, before any early stop or exclusion."""
    average = recipe.penalty_aggregate or recipe.aggregate
    inner: Slot = average.settings.get("aggregate", average)
    return slot(nan_where_empty, first_counts=False) if inner.kernel is nan_where_empty else inner


def _given(record: SimpleNamespace) -> dict[str, Array]:
    return {name: value for name, value in vars(record).items() if name in OPTIONAL}


def _micro_batch(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of one micro-batch. The entropy is averaged and stopped like the rest."""
    settings, recipe = dialect.settings(config), dialect.recipe(**config)
    if settings.importance_sampling_fix and not hasattr(record, "rollout_log_probs"):
        raise ValueError("importance_sampling_fix: it needs the log-probabilities that the sampler reported")
    result = policy_loss(record.log_probs, record.advantages, record.mask, recipe=recipe, **_given(record))
    value, bonus = result.loss, dialect.concept(BONUS, config, 0.0)
    if bonus > 0.0:  # a negative one is not read
        average = recipe.penalty_aggregate or recipe.aggregate
        weights = average(judged(recipe, record).batch)
        value = value - bonus * batch_sum(weights * where_mask(record.mask, record.entropies))
    return {"loss": value, "grad_logp": result.gradient, "metrics": result.metrics}


def _whole_batch(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of a micro-batch that is the whole batch.

    Its fraction of the tokens is 0/0 without tokens.
    """
    numbers = _micro_batch(dialect, config, record)
    if record.mask.any() or not _is_scaled(dialect.settings(config)):
        return numbers
    return numbers | {"loss": nan * numbers["loss"], "scale": nan}


def _is_scaled(settings: Settings) -> bool:
    """Return true if a micro-batch counts by its fraction of the tokens.

    FSDP's actor ignores that setting.
    """
    return bool(settings.use_valid_token_scale and settings["actor.training_backend"] == "megatron")


def _step(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the mean over the micro-batches of a step, with `use_valid_token_scale` weighted by their tokens.

    A logged metric is the mean of the micro-batches' metrics, which are in "parts". Only the last one logs
    the sampler's.
    """
    settings, shape = dialect.settings(config), record.mask.shape
    size = settings.training_batch_size_per_gpu
    parts = {
        name: array.reshape(-1, 1, size, *array.shape[2:])
        for name, array in vars(record).items()
        if hasattr(array, "shape")
    }
    result = _micro_batch(dialect, config, SimpleNamespace(**parts))
    records = [
        SimpleNamespace(**{name: array[i] for name, array in parts.items()})
        for i in range(len(parts["mask"]))
    ]
    tokens = parts["mask"].sum(BATCH)
    shares = tokens / tokens.sum() if _is_scaled(settings) else np.full(len(tokens), 1.0 / len(tokens))
    gradient = where_mask(parts["mask"], shares[:, None, None, None] * result["grad_logp"])
    each = [
        (one, _part_of_step(_micro_batch(dialect, config, one), share * len(shares), one is records[-1]))
        for one, share in zip(records, shares, strict=True)
    ]
    return {"loss": (shares * result["loss"]).sum(), "grad_logp": gradient.reshape(shape), "parts": each}


def _part_of_step(numbers: dict[str, Any], scale: Array, is_last: bool) -> dict[str, Any]:
    """Return the numbers of a micro-batch as they are logged, with its loss scaled."""
    return numbers | {"loss": scale * numbers["loss"], "scale": scale, "is_last": is_last}


def _swapped_penalty(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the FSDP actor's penalty, called with the reference first.

    Its slope is in the second argument.
    """
    exchanged = {"log_probs": record.ref_log_probs, "ref_log_probs": record.log_probs}
    result = penalty(dialect, config, SimpleNamespace(**vars(record) | exchanged))
    return result | {"grad_logp": -result["grad_logp"]}


CALLS: dict[str, Call] = {
    "loss": _whole_batch,
    "loss of a step": _step,
    "penalty before PR #1400": _swapped_penalty,
}
"""Calls that only RLinf's recorded cases have, and its loss, whose bonus is averaged as the loss is."""
