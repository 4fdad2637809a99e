"""The metrics of AReaL's loss: means over the tokens of a mini-batch, for the clipped loss without filters."""

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.parity.measured import Measured, Metric


def _log_ratio(measured: Measured) -> Floats:
    """Return log πθ - log πold, (P, G, T), token by token; on-policy, it is 0."""
    record = measured.record
    found: Floats = record.log_probs - getattr(record, "old_log_probs", record.log_probs)
    return found


def _ratio(measured: Measured) -> Floats:
    """Return the ratio after the level, (P, G, T)."""
    mask = measured.record.mask
    ratio: Floats = np.exp(measured.recipe.level(_log_ratio(measured), mask))
    return ratio


def _branches(measured: Measured) -> tuple[Floats, Floats, Floats]:
    """Return the unclipped and the clipped loss of each token, and its advantage, each (P, G, T)."""
    settings, ratio = measured.settings, _ratio(measured)
    low, high = settings["eps_clip"], settings["eps_clip_higher"]
    advantages = measured.record.advantages
    advantages = advantages if advantages.ndim == ratio.ndim else advantages[..., None]
    if settings["importance_sampling_level"] == "sequence":
        advantages = masked_mean(advantages, measured.record.mask, axis=-1, keepdims=True)
    bound = np.clip(ratio, 1.0 - low, 1.0 + (low if high is None else high))
    return -advantages * ratio, -advantages * bound, advantages + np.zeros_like(ratio)


def _mean(measured: Measured, values: Array) -> Array:
    return masked_mean(values, measured.record.mask, axis=BATCH)


def clip_ratio(measured: Measured) -> Array:
    """Return the fraction of tokens whose clipped loss is the larger one, `clip_ratio`."""
    free, bound, _ = _branches(measured)
    return _mean(measured, (free < bound).astype(float))


def dual_clip_ratio(measured: Measured) -> Array:
    """Return the fraction of tokens with a loss above c_clip |A|, `dual_clip_ratio`.

    Good tokens never have one.
    """
    free, bound, advantages = _branches(measured)
    cap = measured.settings["c_clip"]
    above = np.zeros_like(free) if cap is None else cap * abs(advantages) < np.maximum(free, bound)
    return _mean(measured, above.astype(float))


METRICS: dict[str, Metric] = {
    "importance_weight": lambda measured: _mean(measured, _ratio(measured)),
    "approx_kl": lambda measured: _mean(measured, _log_ratio(measured)),
    "clip_ratio": clip_ratio,
    "dual_clip_ratio": dual_clip_ratio,
    "actor_loss": lambda measured: measured.numbers["loss"],
}
"""The metrics, by the name that is logged.

AReaL's approx_kl has the sign of the log-ratio and is not a KL.
"""
