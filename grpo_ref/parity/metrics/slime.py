"""The metrics of slime's `policy_loss_function` for one step. Each is averaged as the loss is."""

from collections.abc import Callable

import numpy as np

from grpo_ref.arrays import TOKENS, Array, Floats
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.parity.metrics.common import old_log_probs_of


def _average(measured: Measured, values: Floats) -> Array:
    """Return the mean over the tokens with the weights of the loss."""
    mask = measured.record.mask
    return (measured.recipe.weights(mask) * np.where(mask != 0.0, values, 0.0)).sum()


def averaged(values: Callable[[Measured], Floats]) -> Metric:
    """Return a metric that is the mean of these values."""
    return lambda measured: _average(measured, values(measured))


def _log_ratio(measured: Measured) -> Floats:
    """Return the log-ratio of the surrogate, (P, G, T)."""
    log_ratio: Floats = measured.recipe.level(
        measured.record.log_probs - old_log_probs_of(measured), measured.record.mask
    )
    return log_ratio


def _clipped(measured: Measured) -> Floats:
    """Return 1 where the clipped branch counts (with cispo, where the ratio is limited), (P, G, T)."""
    ratio, surrogate = np.exp(_log_ratio(measured)), measured.recipe.surrogate.settings
    if "min_ratio" in surrogate:
        near = np.clip(ratio, surrogate["min_ratio"], surrogate["max_ratio"])
        limited: Floats = (near != ratio).astype(float)
        return limited
    advantages = measured.record.advantages
    advantages = advantages if advantages.ndim == ratio.ndim else advantages[..., None]
    bound = np.clip(ratio, 1.0 - surrogate["clip_low"], 1.0 + surrogate["clip_high"])
    held: Floats = (bound * advantages < ratio * advantages).astype(float)
    return held


def _mismatch(measured: Measured) -> Floats:
    """Return the ratio of learner to sampler, (P, G, T)."""
    mismatch: Floats = np.exp(old_log_probs_of(measured) - measured.record.rollout_log_probs)
    return mismatch


def _limited(measured: Measured) -> Floats:
    """Return 1 where the correction changes the ratio of learner to sampler, (P, G, T)."""
    *_, part = measured.recipe.corrections
    record = measured.record
    fields = {"rollout_log_probs": record.rollout_log_probs, "mask": record.mask}
    weights = part(old_log_probs=old_log_probs_of(measured), **fields)
    limited: Floats = (weights != _mismatch(measured)).astype(float)
    return limited


def _apart(measured: Measured) -> Floats:
    """Return |log πold - log πrollout|, (P, G, T); with the policy if the sampler is the old policy."""
    record = measured.record
    own = measured.settings.use_rollout_logprobs
    apart: Floats = abs(
        record.log_probs - old_log_probs_of(measured)
        if own
        else old_log_probs_of(measured) - record.rollout_log_probs
    )
    return apart


def opsm_clipfrac(measured: Measured) -> Array:
    """Return the fraction of excluded places up to the last token.

    For each completion, their number is divided by the number of tokens. The result is a mean over
    completions, or over tokens.
    """
    part, mask = measured.recipe.corrections[0], measured.record.mask
    advantages = measured.record.advantages
    advantages = advantages if advantages.ndim == mask.ndim else advantages[..., None]
    old, policy = old_log_probs_of(measured), measured.record.log_probs
    weights = part(log_probs=policy, old_log_probs=old, advantages=advantages, mask=mask)
    lengths = np.maximum(mask.sum(TOKENS), 1.0)
    within = mask[..., ::-1].cumsum(TOKENS)[..., ::-1] > 0.0
    shares = ((1.0 - weights) * within).sum(TOKENS) / lengths
    per_token = measured.settings.calculate_per_token_loss
    total: Array = shares.sum() / (lengths.sum() if per_token else shares.size)
    return total


METRICS: dict[str, Metric] = {
    "pg_clipfrac": averaged(_clipped),
    "ppo_kl": averaged(lambda m: -_log_ratio(m)),
    "entropy_loss": averaged(lambda m: m.record.entropies),
    "kl_loss": averaged(lambda m: m.recipe.penalty(m.record).value),
    "ois": averaged(lambda m: np.exp(_log_ratio(m))),
    "tis": averaged(_mismatch),
    "tis_abs": averaged(lambda m: abs(_mismatch(m) - 1.0)),
    "tis_clipfrac": averaged(_limited),
    "train_rollout_logprob_abs_diff": averaged(_apart),
    "opsm_clipfrac": opsm_clipfrac,
}
"""The metrics, by the name that is logged."""
