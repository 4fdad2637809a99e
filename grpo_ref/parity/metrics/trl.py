"""The metrics of TRL's loss and rewards, for one process.

A metric of the loss is the mean over the micro-batches, if there are several.

If the ratio is that of a sequence, TRL averages over completions, including empty ones; otherwise over
tokens.
"""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, masked_mean, where_mask
from grpo_ref.explain.dialects.trl.keys import GMPO
from grpo_ref.explain.dialects.trl.sampler import sampler_weights
from grpo_ref.levels import token_level
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.calls.trl import functions
from grpo_ref.parity.calls.trl_scores import scored_normalized_sum, scored_sum
from grpo_ref.parity.measured import Measured, Metric

SMALL = 1e-8
"""Largest standard deviation that counts as 0, as in `torch.isclose`."""
EPS = 1e-4
FUNCTIONS = 3
"""Number of reward functions that have metrics here, named by position. TRL uses their names."""


def _as_logged(metric: Metric) -> Metric:
    """Return the metric as TRL averages it.

    If all completions have one token, it includes masked completions.

    TRL distinguishes a value per token from one per completion by its length. The ratio of a masked sequence
    is 1.
    """

    def of_all(measured: Measured) -> Array:
        record, settings = measured.record, measured.settings
        if record.mask.shape[TOKENS] != 1:
            return metric(measured)
        old = getattr(record, "old_log_probs", record.log_probs)
        if settings.importance_sampling_level == "sequence" and settings.trainer != GMPO:
            old = np.where(record.mask != 0.0, old, record.log_probs)
        fields = vars(record) | {"old_log_probs": old, "mask": np.ones_like(record.mask)}
        return metric(measured._replace(record=SimpleNamespace(**fields)))

    return of_all


def kl(measured: Measured) -> Array:
    """Return the penalty per token, as in the loss."""
    record = measured.record
    if record.mask.shape[TOKENS] != 1:
        return measured.numbers["metrics"]["kl"]
    given = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    arrays = (record.log_probs, record.advantages, record.mask)
    return policy_loss(*arrays, recipe=measured.recipe, max_length=1, **given).metrics["kl"]


def _ratio(measured: Measured) -> Array:
    """Return the ratio before any clip, (P, G, T), or that of the sequence, (P, G, 1)."""
    log_ratio = _log_ratio(measured)
    if measured.settings.importance_sampling_level == "sequence":
        log_ratio = masked_mean(log_ratio, measured.record.mask, axis=TOKENS, keepdims=True)
    return np.exp(log_ratio)


def _log_ratio(measured: Measured) -> Array:
    record = measured.record
    old = getattr(record, "old_log_probs", record.log_probs)
    return token_level(record.log_probs - old, record.mask)


def _advantages(measured: Measured) -> Array:
    """Return the advantages, (P, G, T) or (P, G, 1)."""
    found = measured.record.advantages
    return found if found.ndim == measured.record.mask.ndim else found[..., None]


def _clipped(measured: Measured) -> tuple[Array, Array]:
    """Return 1 for ratios below the lower bound, and above the upper bound, if the advantage pushes outwards.

    The ratio is already limited by `delta`.
    """
    settings, sign = measured.settings, _advantages(measured)
    if settings.trainer == GMPO:
        ratio, low, high = _log_ratio(measured), -settings.epsilon, _high(measured)
    else:
        most = np.inf if settings.delta is None else settings.delta
        ratio = np.minimum(_ratio(measured), most)
        low, high = 1.0 - settings.epsilon, 1.0 + _high(measured)
    too_low, too_high = (ratio < low) & (sign < 0.0), (ratio > high) & (sign > 0.0)
    return too_low.astype(ratio.dtype), too_high.astype(ratio.dtype)


def _high(measured: Measured) -> float:
    settings = measured.settings
    return float(settings.epsilon if settings.epsilon_high is None else settings.epsilon_high)


def _mean(measured: Measured, values: Array) -> Array:
    """Return the mean over the tokens, or over the completions if there is one value for each."""
    if values.shape[TOKENS] == 1:
        return np.mean(values)
    return masked_mean(values, measured.record.mask, axis=BATCH)


def _per_completion(measured: Measured, values: Array) -> Array:
    """Return the mean of each completion that has tokens."""
    if values.shape[TOKENS] == 1:
        return values.ravel()
    mask = measured.record.mask
    return masked_mean(values, mask, axis=TOKENS)[mask.sum(TOKENS) > 0.0]


def _share(side: Callable[[tuple[Array, Array]], Array]) -> Metric:
    return _as_logged(lambda measured: _mean(measured, side(_clipped(measured))))


def low_min(measured: Measured) -> Array:
    """Return the smallest fraction of a completion that is clipped below; NaN without a token."""
    return np.min(_per_completion(measured, _clipped(measured)[0]), initial=np.inf)


def high_max(measured: Measured) -> Array:
    """Return the largest fraction of a completion that is clipped above; NaN without a token."""
    return np.max(_per_completion(measured, _clipped(measured)[1]), initial=-np.inf)


def _nan_where_empty(extreme: Metric) -> Metric:
    """Return the metric of an extreme value; NaN if there are no values."""
    return lambda measured: value if np.isfinite(value := extreme(measured)) else np.nan


def cispo_clip_ratio(measured: Measured) -> Array:
    """Return the fraction of good tokens whose weight is the cap.

    Bad tokens, which are capped too, do not count.
    """
    capped = (_ratio(measured) > _high(measured)) & (_advantages(measured) > 0.0)
    return _mean(measured, capped.astype(measured.record.log_probs.dtype))


def phi_seq_mean(measured: Measured) -> Array:
    """Return VESPO's mean weight φ, for advantages of ±1 with the sign of the actual ones."""
    record, given = measured.record, vars(measured.record)
    sign = np.where(_advantages(measured) >= 0.0, 1.0, -1.0).astype(record.log_probs.dtype)
    old = given.get("old_log_probs", record.log_probs)
    arrays = (record.log_probs, old, given.get("rollout_log_probs", old), sign, record.mask)
    part = measured.recipe.surrogate
    weight = sign * part.kernel(*arrays, **part.settings).direct
    return _mean(measured, weight if sign.shape[TOKENS] > 1 else weight[..., :1])


def entropy(measured: Measured) -> Array:
    """Return the entropy in nats per token, of all tokens, including those that `top_entropy_quantile` excludes."""
    return masked_mean(measured.record.entropies, measured.record.mask, axis=BATCH)


# ---- the sampler ------------------------------------------------------------------------------------


def _difference(measured: Measured) -> Array:
    """Return the absolute differences of the log-probabilities that the sampler reported."""
    record = measured.record
    apart = abs(record.old_log_probs - record.rollout_log_probs)[record.mask != 0.0]
    return apart[~np.isnan(apart)]


def _weights(measured: Measured) -> Array:
    """Return the weights for the sampler's mismatch, per token, or per completion in a sequence mode."""
    record, (part,) = measured.record, sampler_weights(measured.settings)
    if measured.settings.vllm_importance_sampling_mode.startswith("token"):
        return part(record)[record.mask != 0.0]
    apart = where_mask(record.mask, np.nan_to_num(record.old_log_probs - record.rollout_log_probs, nan=0.0))
    total = apart.sum(TOKENS, keepdims=True)
    bounds = {name: bound for name, bound in part.settings.items() if name != "level"}
    return np.ravel(part.kernel(total, np.zeros_like(total), np.ones_like(total), **bounds))


def _of(values: Callable[[Measured], Array], number: Callable[[Array], Array]) -> Metric:
    """Return a metric: a number computed from an array, 0 if the array is empty."""
    return lambda measured: number(found) if (found := values(measured)).size else 0.0


# ---- the rewards ------------------------------------------------------------------------------------


def _total(measured: Measured) -> Array:
    """Return the weighted sums of the reward functions, (P, G); NaN if no function returns a score."""
    components, weights = functions(measured.record)
    return scored_sum(components * weights)


def _of_function(place: int) -> Callable[[Measured], Array]:
    return lambda measured: functions(measured.record)[0][..., place]


def _mean_of_scored(values: Callable[[Measured], Array]) -> Metric:
    return lambda measured: _moments(values(measured))[0]


def _std_of_scored(values: Callable[[Measured], Array]) -> Metric:
    return lambda measured: _moments(values(measured))[1]


def _moments(values: Array) -> tuple[Array, Array]:
    """Return mean and sample standard deviation of the values that are not NaN; NaN if there are too few."""
    scored = values[~np.isnan(values)]
    nothing = np.asarray(np.nan, dtype=values.dtype)
    return (
        np.mean(scored) if scored.size else nothing,
        np.std(scored, ddof=1) if scored.size > 1 else nothing,
    )


def frac_reward_zero_std(measured: Measured) -> Array:
    """Return the fraction of completions whose group (or batch) has a standard deviation of 0."""
    settings = measured.settings
    if settings.multi_objective_aggregation == "normalize_then_sum":
        sums = scored_normalized_sum(*functions(measured.record), ddof=1, eps=EPS)
        return np.mean(_moments(sums)[1] <= SMALL)
    if settings.scale_rewards == "batch":
        return np.mean(_moments(_total(measured))[1] <= SMALL)
    return np.mean([_moments(group)[1] <= SMALL for group in _total(measured)])


def _averaged(metric: Metric) -> Metric:
    """Return the mean of a metric over the recorded micro-batches, without those where it is NaN."""

    def mean(measured: Measured) -> Array:
        whole = [(measured.record, measured.numbers)]
        parts = measured.numbers.get("micro_batches", whole)
        each = [metric(Measured(measured.settings, measured.recipe, *part)) for part in parts]
        return _moments(np.array(each))[0]

    return mean


OF_LOSS: dict[str, Metric] = {
    "kl": _as_logged(kl),
    "entropy": _as_logged(entropy),
    "policy_loss": lambda measured: measured.numbers["policy_loss"],
    "clip_ratio/low_mean": _share(lambda sides: sides[0]),
    "clip_ratio/high_mean": _share(lambda sides: sides[1]),
    "clip_ratio/region_mean": _share(lambda sides: np.maximum(*sides)),
    "clip_ratio/low_min": _as_logged(_nan_where_empty(low_min)),
    "clip_ratio/high_max": _as_logged(_nan_where_empty(high_max)),
    "cispo_clip_ratio": _as_logged(cispo_clip_ratio),
    "vespo/phi_seq_mean": phi_seq_mean,
}
METRICS: dict[str, Metric] = {
    **{name: _averaged(metric) for name, metric in OF_LOSS.items()},
    "entropy_coef": lambda measured: measured.numbers["entropy_coef"],
    "sampling/sampling_logp_difference/mean": _of(_difference, np.mean),
    "sampling/sampling_logp_difference/max": _of(_difference, np.max),
    "sampling/importance_sampling_ratio/min": _of(_weights, np.min),
    "sampling/importance_sampling_ratio/mean": _of(_weights, np.mean),
    "sampling/importance_sampling_ratio/max": _of(_weights, np.max),
    "reward": _mean_of_scored(_total),
    "reward_std": _std_of_scored(_total),
    "frac_reward_zero_std": frac_reward_zero_std,
    **{f"rewards/{place}/mean": _mean_of_scored(_of_function(place)) for place in range(FUNCTIONS)},
    **{f"rewards/{place}/std": _std_of_scored(_of_function(place)) for place in range(FUNCTIONS)},
}
"""The metrics, by the names under which TRL logs them."""
