"""The metrics that Tunix's `grpo_loss_fn` returns with the loss, all in float32."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Measured, Metric, Rounded
from grpo_ref.parity.metrics.common import log_ratio_of


def pg_loss(measured: Measured) -> Rounded:
    """Return the loss without the penalty, `unreduced_pg_loss`. The advantages of a group cancel in it."""
    record = measured.record
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    recipe = replace(measured.recipe, kl_coef=0.0)
    result = policy_loss(record.log_probs, record.advantages, record.mask, recipe=recipe, **others)
    sizes = recipe.weights(record.mask) * abs(_advantages(measured))
    return Rounded(result.loss, sizes.sum())


def kl_loss(measured: Measured) -> Rounded:
    """Return the penalty without its weight, averaged as the loss is, `kl_loss`."""
    values, mask = _penalty(measured), measured.record.mask
    weights = measured.recipe.weights(mask)
    return Rounded((weights * values).sum(), (weights * abs(values)).sum())


def kl(measured: Measured) -> Rounded:
    """Return the mean of the penalty over the tokens, without its weight, `kl`."""
    values, mask = _penalty(measured), measured.record.mask
    return Rounded(masked_mean(values, mask, axis=BATCH), masked_mean(abs(values), mask, axis=BATCH))


def ppo_kl(measured: Measured) -> Rounded:
    """Return the mean of log πold - log πθ over the tokens, before any limit, `ppo_kl`."""
    values, mask = -log_ratio_of(measured), measured.record.mask
    return Rounded(masked_mean(values, mask, axis=BATCH), masked_mean(abs(values), mask, axis=BATCH))


def pg_clipfrac(measured: Measured) -> Array:
    """Return the fraction of clipped tokens, `pg_clipfrac`."""
    low, high = (measured.recipe.surrogate.settings[f"clip_{name}"] for name in ("low", "high"))
    ratio, advantages = _ratio(measured), _advantages(measured)
    bound = np.clip(ratio, min(1.0 - low, 1.0 + high), 1.0 + high)
    held = -advantages * bound > -advantages * ratio
    return masked_mean(held.astype(ratio.dtype), measured.record.mask, axis=BATCH)


def _penalty(measured: Measured) -> Floats:
    """Return the penalty of each token, (P, G, T), 0 on padding."""
    record = measured.record
    values: Floats = np.where(record.mask != 0.0, measured.recipe.penalty(record).value, 0.0)
    return values


def _advantages(measured: Measured) -> Floats:
    """Return the advantages, (P, G, T) or (P, G, 1)."""
    advantages: Floats = measured.record.advantages
    return advantages if advantages.ndim == measured.record.mask.ndim else advantages[..., None]


def _ratio(measured: Measured) -> Floats:
    """Return the ratio of the loss, (P, G, T)."""
    levelled = measured.recipe.level(log_ratio_of(measured), measured.record.mask)
    most = 10.0 if measured.settings.loss_algo == "gspo-token" else 20.0
    ratio: Floats = np.exp(np.clip(levelled, -20.0, most))
    return ratio


def _of_ratio(choose: Callable[[Floats], Floats]) -> Metric:
    """Return a metric: a number computed from the ratios of all tokens."""
    return lambda measured: choose(_ratio(measured)[measured.record.mask != 0.0])


METRICS: dict[str, Metric] = {
    "unreduced_pg_loss": pg_loss,
    "kl_loss": kl_loss,
    "kl": kl,
    "ppo_kl": ppo_kl,
    "pg_clipfrac": pg_clipfrac,
    "is_ratio/mean": _of_ratio(np.mean),
    "is_ratio/max": _of_ratio(np.max),
    "is_ratio/min": _of_ratio(np.min),
}
"""The metrics, by the name that is logged."""
