"""The metrics of NeMo-RL's `ClippedPGLossFn` for one batch: sums over micro-batches with common denominators."""

from collections.abc import Callable

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.explain.dialects.nemo_rl.kernels import finite_geometric_filter, finite_ratio, finite_window
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.penalties import k1, k2, k3

ESTIMATES = {"k1": k1, "k2": k2, "k3": k3}


def _old(measured: Measured) -> Floats:
    """Return log πold, (P, G, T); on-policy, and with force_on_policy_ratio, it equals log πθ."""
    record = measured.record
    own = measured.settings.force_on_policy_ratio
    old: Floats = record.log_probs if own else getattr(record, "old_log_probs", record.log_probs)
    return old


def _sampler(measured: Measured) -> Floats:
    """Return the sampler's log-probabilities, (P, G, T); the old ones if none are given."""
    record = measured.record
    old = getattr(record, "old_log_probs", record.log_probs)
    sampler: Floats = getattr(record, "rollout_log_probs", old)
    return sampler


def _ratio(measured: Measured) -> Floats:
    """Return the ratio, (P, G, T); the log-probability if no ratio is used."""
    settings, record = measured.settings, measured.record
    if settings.force_on_policy_ratio:
        return np.ones_like(record.log_probs)
    if settings.disable_ppo_ratio:
        policy: Floats = record.log_probs
        return policy
    ratio: Floats = np.exp(measured.recipe.level(record.log_probs - _old(measured), record.mask))
    return ratio


def _clamped(measured: Measured) -> Floats:
    settings = measured.settings
    if settings.force_on_policy_ratio or settings.disable_ppo_ratio:
        return _ratio(measured)
    return np.clip(_ratio(measured), 1.0 - settings.ratio_clip_min, 1.0 + settings.ratio_clip_max)


def _mean_of(values: Callable[[Measured], Floats]) -> Metric:
    return lambda measured: masked_mean(values(measured), measured.record.mask, axis=BATCH)


def _extreme_of(values: Callable[[Measured], Floats], choose: Callable[[Floats], Floats]) -> Metric:
    return lambda measured: choose(values(measured)[measured.record.mask != 0.0])


def kl_penalty(measured: Measured) -> Array:
    """Return the penalty without its weight, averaged as the loss is; 0 if there is none."""
    recipe, record = measured.recipe, measured.record
    if recipe.kl_coef == 0.0:
        return np.zeros(())
    values = np.where(record.mask != 0.0, recipe.penalty(record).value, 0.0)
    return (recipe.weights(record.mask) * values).sum()


def _estimate(measured: Measured, of: Floats, to: Floats) -> Floats:
    """Return an estimate of the KL without limits, (P, G, T)."""
    value: Floats = ESTIMATES[measured.settings.reference_policy_kl_type](of, to).value
    return value


def _divergence(measured: Measured) -> Floats:
    """Return the k3 of learner and sampler to their mixture, halved and added, (P, G, T)."""
    old, sampler = _old(measured), _sampler(measured)
    mixture = np.log(0.5 * np.exp(old) + 0.5 * np.exp(sampler))
    first, second = old - mixture, sampler - mixture
    halves: Floats = 0.5 * (np.exp(first) - first - 1.0) + 0.5 * (np.exp(second) - second - 1.0)
    return halves


def sampling_importance_ratio(measured: Measured) -> Array:
    """Return the mean weight against the sampler after its limits, used or not.

    Weights per completion are summed instead, because NeMo-RL multiplies them by the mask as a table of all
    pairs.
    """
    settings, record = measured.settings, measured.record
    whole, kind = settings.sequence_level_importance_ratios, settings.truncated_importance_sampling_type
    fields = (_old(measured), _sampler(measured), record.mask)
    high, low = settings.truncated_importance_sampling_ratio, settings.truncated_importance_sampling_ratio_min
    if kind == "icepop":
        weights = finite_window(*fields, whole=whole, min_ratio=low, max_ratio=high)
    elif kind == "tis":
        weights = finite_ratio(*fields, whole=whole, min_ratio=low or 0.0, max_ratio=high)
    else:
        weights = finite_ratio(*fields, whole=whole)
    if kind == "seq-mask-tis":
        weights = weights * finite_geometric_filter(*fields, min_ratio=low, max_ratio=high)
    if whole:
        total: Array = weights[..., 0].sum()
        return total
    return masked_mean(weights, record.mask, axis=BATCH)


def out_of_bounds(measured: Measured) -> Array:
    """Return the fraction of tokens, or of completions, whose ratio is outside the bounds, `is_oob_ratio`."""
    settings, record = measured.settings, measured.record
    fields = (_old(measured), _sampler(measured), record.mask)
    low = settings.truncated_importance_sampling_ratio_min or 0.0
    high = settings.truncated_importance_sampling_ratio
    if settings.truncated_importance_sampling_type == "seq-mask-tis":
        inside: Array = finite_geometric_filter(*fields, min_ratio=low, max_ratio=high)[..., 0]
        return 1.0 - inside.mean()
    ratio = finite_ratio(*fields, whole=settings.sequence_level_importance_ratios)
    outside = ((ratio < low) | (ratio > high)).astype(ratio.dtype)
    return masked_mean(outside, record.mask, axis=BATCH)


METRICS: dict[str, Metric] = {
    "probs_ratio": _mean_of(_ratio),
    "probs_ratio_clamped": _mean_of(_clamped),
    "probs_ratio_min": _extreme_of(_ratio, np.min),
    "probs_ratio_max": _extreme_of(_ratio, np.max),
    "probs_ratio_clamped_min": _extreme_of(_clamped, np.min),
    "probs_ratio_clamped_max": _extreme_of(_clamped, np.max),
    "kl_penalty": kl_penalty,
    "token_mult_prob_error": _mean_of(lambda m: np.exp(abs(_sampler(m) - _old(m)))),
    "gen_kl_error": _mean_of(lambda m: _estimate(m, _sampler(m), _old(m))),
    "policy_kl_error": _mean_of(lambda m: _estimate(m, _old(m), _sampler(m))),
    "js_divergence_error": _mean_of(_divergence),
    "sampling_importance_ratio": sampling_importance_ratio,
    "approx_entropy": _mean_of(lambda m: -np.exp(m.record.log_probs - _sampler(m)) * m.record.log_probs),
    "is_oob_ratio": out_of_bounds,
}
"""The metrics, by the name that is logged."""
