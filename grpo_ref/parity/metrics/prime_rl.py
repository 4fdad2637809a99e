"""The metrics of prime-rl's loss: means over a completion's tokens, then over completions; 0 without tokens."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Floats, masked_mean
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.surrogates.divergence import probability_change


class _Moved(SimpleNamespace):
    """(P, G, T) arrays: mask, advantages, mismatch (k3 to the sampler), left_out, too_high and too_low."""


def _moved(measured: Measured) -> _Moved:
    record, settings = measured.record, measured.settings
    log_ratio = record.log_probs - getattr(record, "old_log_probs", record.log_probs)
    change = probability_change(log_ratio, record.log_probs)
    advantages = record.advantages if record.advantages.ndim == 3 else record.advantages[..., None]
    advantages = advantages + np.zeros_like(log_ratio)
    if settings["loss.type"] == "ipo":
        too_high = too_low = left_out = abs(change) > settings["loss.ipo_threshold"]
    else:
        too_high, too_low = change > settings["loss.dppo_mask_high"], change < -settings["loss.dppo_mask_low"]
        left_out = np.where(advantages > 0.0, too_high, too_low)
    return _Moved(
        mask=record.mask != 0.0,
        advantages=advantages,
        mismatch=np.expm1(log_ratio) - log_ratio,
        left_out=left_out,
        too_high=too_high,
        too_low=too_low,
    )


def _mean(value: Callable[[_Moved], Floats], among: Callable[[_Moved], Floats]) -> Metric:
    """Return the mean over completions of the mean of a value over some of their tokens."""

    def metric(measured: Measured) -> Floats:
        moved = _moved(measured)
        mask = moved.mask & among(moved)
        sums = np.where(mask, value(moved), 0.0).sum(TOKENS)
        found: Floats = (sums / np.maximum(mask.sum(TOKENS), 1)).mean()
        return found

    return metric


def _all(moved: _Moved) -> Floats:
    every: Floats = moved.mask
    return every


METRICS: dict[str, Metric] = {
    "is_masked": _mean(lambda m: m.left_out, _all),
    "is_masked_high": _mean(lambda m: (m.advantages > 0.0) & m.too_high, _all),
    "is_masked_low": _mean(lambda m: (m.advantages < 0.0) & m.too_low, _all),
    "masked_mismatch_kl": _mean(lambda m: m.mismatch, lambda m: m.left_out),
    "unmasked_mismatch_kl": _mean(lambda m: m.mismatch, lambda m: ~m.left_out),
    "masked_advantage_positive": _mean(lambda m: m.advantages > 0.0, lambda m: m.left_out),
    "masked_advantage_negative": _mean(lambda m: m.advantages < 0.0, lambda m: m.left_out),
    "mismatch_kl/all": lambda measured: masked_mean(
        _moved(measured).mismatch, measured.record.mask, axis=BATCH
    ),
}
"""The metrics, by the name that is logged."""
