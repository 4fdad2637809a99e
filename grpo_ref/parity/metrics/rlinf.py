"""The metrics of the loss that RLinf's actors log, for a single micro-batch.

Losses are averaged by `loss_agg_func`, everything else over tokens. If the first completion of a micro-batch
is empty, all metrics of the surrogate are 0, and `actor/ratio_abs` is not logged.
"""

from collections.abc import Callable
from math import inf

from grpo_ref.arrays import BATCH, Array, array_namespace, at_least, batch_sum, masked_mean, where_mask
from grpo_ref.explain.dialects.rlinf.kernels import unless_first_is_empty
from grpo_ref.loss import Differentiated
from grpo_ref.parity.calls.rlinf import averages, judged
from grpo_ref.parity.measured import Measured, Metric

OfTokens = Callable[[Differentiated, Measured], Array]


def _mean(values: OfTokens) -> Metric:
    """Return a metric: the mean of some values over the tokens, or 0 if the micro-batch is excluded."""

    def metric(measured: Measured) -> Array:
        found = judged(measured.recipe, measured.record, stops=False)
        mean = masked_mean(values(found, measured), found.batch.mask, axis=BATCH)
        return array_namespace(mean).zeros_like(mean) if _is_left_out(measured) else mean

    return metric


def _unless_left_out(metric: Metric) -> Metric:
    """Return a metric that only micro-batches which are not excluded log."""
    return lambda measured: None if _is_left_out(measured) else metric(measured)


def _summed(values: OfTokens) -> Metric:
    """Return a metric: the average of some values with the weights of the surrogate."""

    def metric(measured: Measured) -> Array:
        found = judged(measured.recipe, measured.record, stops=False)
        weights = measured.recipe.aggregate(found.batch)
        return batch_sum(weights * where_mask(found.batch.mask, values(found, measured)))

    return metric


def _averaged(values: Array, found: Differentiated, measured: Measured) -> Array:
    """Average some values with the weights of the penalty, before any early stop."""
    return batch_sum(averages(measured.recipe)(found.batch) * where_mask(found.batch.mask, values))


def _is_left_out(measured: Measured) -> bool:
    """Return true if the first completion of the micro-batch is empty.

    The decoupled loss does not check that.
    """
    mask = measured.record.mask
    whole = measured.settings.training_batch_size_per_gpu > 1 or mask.shape[-3:-1] == (1, 1)
    is_empty = not unless_first_is_empty(mask)[..., 0, 0, 0].any()
    return measured.settings.loss_type == "actor" and whole and is_empty


def _ratio(found: Differentiated, measured: Measured) -> Array:
    return array_namespace(found.batch.log_ratio).exp(found.batch.log_ratio)


def _off_one(found: Differentiated, measured: Measured) -> Array:
    return abs(_ratio(found, measured) - 1.0)


def _clipped(found: Differentiated, measured: Measured) -> Array:
    s, ratio = measured.settings, _ratio(found, measured)
    low = s.ratio_clip_eps if s.clip_ratio_low is None else s.clip_ratio_low
    high = s.ratio_clip_eps if s.clip_ratio_high is None else s.clip_ratio_high
    return array_namespace(ratio).clip(ratio, 1.0 - low, 1.0 + high)


def _advantages(found: Differentiated, measured: Measured) -> Array:
    """Return the actor's advantages, which include the sampler's mismatch.

    The decoupled loss applies weights later.
    """
    decoupled = measured.settings.loss_type != "actor"
    return found.batch.advantages * (1.0 if decoupled else found.batch.correction)


def _is_clipped(found: Differentiated, measured: Measured) -> Array:
    """Return 1 where the clip makes the loss larger."""
    free, bound = (
        -_advantages(found, measured) * ratio
        for ratio in (_ratio(found, measured), _clipped(found, measured))
    )
    return array_namespace(free).astype(free < bound, free.dtype)


def _is_floored(found: Differentiated, measured: Measured) -> Array:
    """Return 1 where the dual clip makes the loss smaller."""
    xp, advantages = array_namespace(found.batch.mask), _advantages(found, measured)
    free, bound = (-advantages * ratio for ratio in (_ratio(found, measured), _clipped(found, measured)))
    floor = abs(advantages) * measured.recipe.surrogate.settings.get("max_ratio", inf)
    return xp.astype(floor < xp.maximum(free, bound), free.dtype)


def _floored_ratio(found: Differentiated, measured: Measured) -> Array:
    """Return the ratio where the dual clip applies, and 0 elsewhere.

    The metric is still a mean over all tokens.
    """
    return array_namespace(found.batch.mask).where(
        _is_floored(found, measured) > 0.0, _ratio(found, measured), 0.0
    )


def _moved(found: Differentiated, measured: Measured) -> Array:
    return -found.batch.log_ratio


def _policy_loss(found: Differentiated, measured: Measured) -> Array:
    return -found.batch.correction * found.gain.value


def _policy_loss_abs(found: Differentiated, measured: Measured) -> Array:
    return abs(_policy_loss(found, measured))


def _policy_loss_logged(measured: Measured) -> Array:
    """Return the average of the surrogate. Megatron's scale changes it too if the loss is only the surrogate.

    `loss *= loss_scale` works in place, on the number that is logged.
    """
    s, value = measured.settings, _summed(_policy_loss)(measured)
    has_bonus = s.calculate_entropy and s.entropy_bonus > 0.0
    stopped = s.early_stop_imp_ratio is not None and _mean(_ratio)(measured) > s.early_stop_imp_ratio
    is_alone = not (measured.recipe.kl_coef or has_bonus or stopped or _is_left_out(measured))
    scaled: Array = value * measured.numbers.get("scale", 1.0) if is_alone else value
    return scaled


def _kl_loss(measured: Measured) -> Array | float:
    """Return the penalty without its weight; 0 if it has no weight."""
    found = judged(measured.recipe, measured.record, stops=False)
    return _averaged(found.penalty.value, found, measured) if measured.recipe.kl_coef else 0.0


def _entropy_loss(measured: Measured) -> Array | float:
    """Return the mean entropy; 0 if it is not computed."""
    found = judged(measured.recipe, measured.record, stops=False)
    return (
        _averaged(measured.record.entropies, found, measured) if measured.settings.calculate_entropy else 0.0
    )


def _sampler_mismatch(measured: Measured) -> Array | None:
    """Return the mean |log πold - log πrollout| in nats per token, in the last micro-batch of a step."""
    if not measured.numbers.get("is_last", True):
        return None
    batch = judged(measured.recipe, measured.record).batch
    return masked_mean(abs(batch.old_log_probs - batch.rollout_log_probs), batch.mask, axis=BATCH)


def _kept(measured: Measured) -> tuple[Differentiated, Array]:
    """Return the tokens whose behaviour weight is below the threshold."""
    found = judged(measured.recipe, measured.record)
    batch, threshold = found.batch, measured.settings.behave_weight_threshold
    xp = array_namespace(batch.mask)
    inside = xp.exp(batch.old_log_probs - batch.rollout_log_probs) <= (
        inf if threshold is None else threshold
    )
    return found, batch.mask if threshold is None else batch.mask * xp.astype(inside, batch.mask.dtype)


def _left_out(measured: Measured) -> Array:
    """Return the fraction of tokens beyond the threshold. A count of 0 is replaced by 1."""
    found, kept = _kept(measured)
    inside, tokens = (at_least(batch_sum(each), 1.0) for each in (kept, found.batch.mask))
    return 1.0 - inside / tokens


def _behaviour_kl(measured: Measured) -> Array:
    found, kept = _kept(measured)
    return masked_mean(found.batch.rollout_log_probs - found.batch.old_log_probs, kept, axis=BATCH)


def _final_loss(measured: Measured) -> Array:
    return measured.numbers["loss"]


def _nothing(measured: Measured) -> float | None:
    """Return 0 for an excluded micro-batch; None, not logged, for the others."""
    return 0.0 if _is_left_out(measured) else None


METRICS: dict[str, Metric] = {
    "actor/policy_loss": _policy_loss_logged,
    "actor/policy_loss_abs": _summed(_policy_loss_abs),
    "actor/ratio": _mean(_ratio),
    "actor/ratio_abs": _unless_left_out(_mean(_off_one)),
    "actor/clipped_ratio": _mean(_clipped),
    "actor/dual_cliped_ratio": _mean(_floored_ratio),
    "actor/approx_kl": _mean(_moved),
    "actor/clip_fraction": _mean(_is_clipped),
    "actor/entropy_loss": _entropy_loss,
    "actor/kl_loss": _kl_loss,
    "actor/final_loss": _final_loss,
    "actor/rollout_train_kl": _sampler_mismatch,
    "actor/token_num": _nothing,
    "actor/policy_loss_mbs_mean": _nothing,
    "actor/proximal_ratio": _mean(_ratio),
    "actor/clipped_proximal_ratio": _mean(_clipped),
    "actor/dual_clip_fraction": _mean(_is_floored),
    "actor/behav_clip_fraction": _left_out,
    "actor/proximal_approx_kl": _mean(_moved),
    "actor/behav_approx_kl": _behaviour_kl,
}
"""The metrics of the actors, each with the function that computes it.

Those of the decoupled loss come last.
"""
