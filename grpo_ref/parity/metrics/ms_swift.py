"""The metrics of an ms-swift micro-batch (`_compute_loss_and_metrics`), and of a generation batch's rewards.

In a single process, the minimum of clip_ratio/low and the maximum of clip_ratio/high are those numbers
themselves.
"""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.corrections import off_policy_mask
from grpo_ref.explain.dialects.ms_swift.losses import LARGEST, summed_kl
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.penalties import k3

ZERO_BELOW = 1e-8
"""Largest standard deviation that counts as 0."""


def _mask(measured: Measured) -> Floats:
    """Return 1 on the tokens that remain after all filters, (P, G, T)."""
    record, part = (
        measured.record,
        [each for each in measured.recipe.corrections if each.kernel is off_policy_mask],
    )
    mask: Floats = measured.numbers.get("admitted", record.mask)
    fields = {"rollout_log_probs": _old(record)} | vars(record)
    fields |= {"advantages": _advantages(measured), "mask": mask}
    return mask * part[0](SimpleNamespace(**fields)) if part else mask


def _old(record: SimpleNamespace) -> Floats:
    """Return log πold, (P, G, T); on-policy, it equals log πθ."""
    old: Floats = getattr(record, "old_log_probs", record.log_probs)
    return old


def _advantages(measured: Measured) -> Floats:
    advantages: Floats = measured.record.advantages
    return advantages if advantages.ndim == measured.record.mask.ndim else advantages[..., None]


def _ratio(measured: Measured) -> Floats:
    """Return the ratios of the level, limited to delta, (P, G, T)."""
    record, settings = measured.record, measured.settings
    mask = measured.numbers.get("admitted", record.mask)
    ratio: Floats = np.exp(measured.recipe.level(record.log_probs - _old(record), mask))
    capped = settings.delta is not None and settings.loss_type != "cispo"
    return np.minimum(ratio, settings.delta) if capped else ratio


def _high(measured: Measured) -> float:
    settings = measured.settings
    high: float = settings.epsilon if settings.epsilon_high is None else settings.epsilon_high
    return high


def _sides(measured: Measured) -> tuple[Array, Array]:
    """Return 1 for bad tokens below the clip, and 1 for good tokens above it."""
    ratio, advantages = _ratio(measured), _advantages(measured)
    low = (ratio < 1.0 - measured.settings.epsilon) & (advantages < 0.0)
    return low, (ratio > 1.0 + _high(measured)) & (advantages > 0.0)


def _share(choose: Callable[[tuple[Array, Array]], Array]) -> Metric:
    return lambda measured: masked_mean(
        choose(_sides(measured)).astype(measured.record.log_probs.dtype), _mask(measured), axis=BATCH
    )


def cispo_clip_ratio(measured: Measured) -> Array:
    """Return the fraction of good tokens whose weight equals the cap."""
    capped = (_ratio(measured) > _high(measured)) & (_advantages(measured) > 0.0)
    return masked_mean(capped.astype(measured.record.log_probs.dtype), _mask(measured), axis=BATCH)


def kl(measured: Measured) -> Array:
    """Return the penalty, without the sampler's weights: a mean over tokens; in the reward, the mean of summed k1."""
    record = measured.record
    if not hasattr(record, "log_probs"):
        return np.mean(summed_kl(record.old_log_probs, record.ref_log_probs, record.mask))
    values = k3(record.log_probs, record.ref_log_probs, max_log_ratio=LARGEST, max_value=10.0).value
    return masked_mean(values, _mask(measured), axis=BATCH)


def _rewards(measured: Measured) -> Floats:
    """Return the weighted sums of rewards, minus the KL if it is in the reward, (P, G)."""
    rewards: Floats = measured.numbers["rewards"]
    costs, record = measured.recipe.advantage.settings.get("kl_coef", 0.0), measured.record
    if not costs:
        return rewards
    left: Floats = rewards - costs * summed_kl(record.old_log_probs, record.ref_log_probs, record.mask)
    return left


def _spreads(measured: Measured) -> Floats:
    """Return the standard deviation of each group, with divisor G - 1, (P,)."""
    spreads: Floats = np.std(_rewards(measured), axis=-1, ddof=1)
    return spreads


def reward_std(measured: Measured) -> Floats:
    """Return the mean of the groups' standard deviations; with scale_rewards="batch", that of the batch."""
    settings = measured.settings
    if settings.scale_rewards == "batch" and settings.loss_type != "real":
        return np.asarray(np.std(_rewards(measured), ddof=1))
    return np.asarray(np.mean(_spreads(measured)))


METRICS: dict[str, Metric] = {
    "kl": kl,
    "clip_ratio/low_mean": _share(lambda sides: sides[0]),
    "clip_ratio/low_min": _share(lambda sides: sides[0]),
    "clip_ratio/high_mean": _share(lambda sides: sides[1]),
    "clip_ratio/high_max": _share(lambda sides: sides[1]),
    "clip_ratio/region_mean": _share(lambda sides: np.maximum(*sides)),
    "cispo_clip_ratio": cispo_clip_ratio,
    "reward": lambda measured: np.mean(_rewards(measured)),
    "reward_std": reward_std,
    "frac_reward_zero_std": lambda measured: np.mean(_spreads(measured) <= ZERO_BELOW),
}
"""The metrics, by the names under which ms-swift logs them."""
