"""What RLinf's actors log of the loss, by the names they log it under, as a single micro-batch gives it.

Everything is averaged over tokens but the losses, which have the average of `loss_agg_func`. Where the first
completion of a micro-batch is empty, all metrics of the surrogate are 0, and `actor/ratio_abs` is not logged.
"""

from collections.abc import Callable
from math import inf

from grpo_ref.arrays import BATCH, Array, array_namespace, at_least, batch_sum, masked_mean, where_mask
from grpo_ref.explain.dialect import Measured, Metric
from grpo_ref.explain.dialects.rlinf.quirks import averages, judged, unless_first_is_empty
from grpo_ref.loss import Differentiated

OfTokens = Callable[[Differentiated, Measured], Array]


def _mean(values: OfTokens) -> Metric:
    """The mean over the tokens of some values, or 0 if the micro-batch is left out."""

    def metric(measured: Measured) -> Array:
        found = judged(measured.recipe, measured.record, stops=False)
        mean = masked_mean(values(found, measured), found.batch.mask, axis=BATCH)
        return array_namespace(mean).zeros_like(mean) if _is_left_out(measured) else mean

    return metric


def _unless_left_out(metric: Metric) -> Metric:
    """The metric of the micro-batches that are not left out; the others do not log it."""
    return lambda measured: None if _is_left_out(measured) else metric(measured)


def _summed(values: OfTokens) -> Metric:
    """The average of some values that the surrogate has in the loss."""

    def metric(measured: Measured) -> Array:
        found = judged(measured.recipe, measured.record, stops=False)
        weights = measured.recipe.aggregate(found.batch)
        return batch_sum(weights * where_mask(found.batch.mask, values(found, measured)))

    return metric


def _averaged(values: Array, found: Differentiated, measured: Measured) -> Array:
    """The average of some values that the penalty has in the loss, before anything is stopped."""
    return batch_sum(averages(measured.recipe)(found.batch) * where_mask(found.batch.mask, values))


def _is_left_out(measured: Measured) -> bool:
    """Whether the first completion of the micro-batch is empty, which the decoupled loss does not look at."""
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
    """With the sampler's mismatch in them, as the actor has them; the decoupled loss weighs afterwards."""
    decoupled = measured.settings.loss_type != "actor"
    return found.batch.advantages * (1.0 if decoupled else found.batch.correction)


def _is_clipped(found: Differentiated, measured: Measured) -> Array:
    """1 where the clip makes the loss larger."""
    free, bound = (
        -_advantages(found, measured) * ratio
        for ratio in (_ratio(found, measured), _clipped(found, measured))
    )
    return array_namespace(free).astype(free < bound, free.dtype)


def _is_floored(found: Differentiated, measured: Measured) -> Array:
    """1 where the dual clip makes the loss smaller."""
    xp, advantages = array_namespace(found.batch.mask), _advantages(found, measured)
    free, bound = (-advantages * ratio for ratio in (_ratio(found, measured), _clipped(found, measured)))
    floor = abs(advantages) * measured.recipe.surrogate.settings.get("max_ratio", inf)
    return xp.astype(floor < xp.maximum(free, bound), free.dtype)


def _floored_ratio(found: Differentiated, measured: Measured) -> Array:
    """The ratio where the dual clip holds, and 0 elsewhere; it is a mean over all tokens nevertheless."""
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
    """The average of the surrogate; Megatron's scale changes it too where the loss is nothing but the surrogate.

    `loss *= loss_scale` works in place, on the number that is logged.
    """
    s, value = measured.settings, _summed(_policy_loss)(measured)
    has_bonus = s.calculate_entropy and s.entropy_bonus > 0.0
    stopped = s.early_stop_imp_ratio is not None and _mean(_ratio)(measured) > s.early_stop_imp_ratio
    is_alone = not (measured.recipe.kl_coef or has_bonus or stopped or _is_left_out(measured))
    scaled: Array = value * measured.numbers.get("scale", 1.0) if is_alone else value
    return scaled


def _kl_loss(measured: Measured) -> Array | float:
    """The penalty without its weight; 0 where it has none."""
    found = judged(measured.recipe, measured.record, stops=False)
    return _averaged(found.penalty.value, found, measured) if measured.recipe.kl_coef else 0.0


def _entropy_loss(measured: Measured) -> Array | float:
    """The mean entropy, which is a gain; 0 where it is not computed."""
    found = judged(measured.recipe, measured.record, stops=False)
    return (
        _averaged(measured.record.entropies, found, measured) if measured.settings.calculate_entropy else 0.0
    )


def _sampler_mismatch(measured: Measured) -> Array | None:
    """How far the sampler is off, in nats per token; of the last micro-batch of a step, empty ones included."""
    if not measured.numbers.get("is_last", True):
        return None
    batch = judged(measured.recipe, measured.record).batch
    return masked_mean(abs(batch.old_log_probs - batch.rollout_log_probs), batch.mask, axis=BATCH)


def _kept(measured: Measured) -> tuple[Differentiated, Array]:
    """The tokens whose behaviour weight is below the threshold."""
    found = judged(measured.recipe, measured.record)
    batch, threshold = found.batch, measured.settings.behave_weight_threshold
    xp = array_namespace(batch.mask)
    inside = xp.exp(batch.old_log_probs - batch.rollout_log_probs) <= (
        inf if threshold is None else threshold
    )
    return found, batch.mask if threshold is None else batch.mask * xp.astype(inside, batch.mask.dtype)


def _left_out(measured: Measured) -> Array:
    """The share of the tokens beyond the threshold; a count of 0 is taken as 1."""
    found, kept = _kept(measured)
    inside, tokens = (at_least(batch_sum(each), 1.0) for each in (kept, found.batch.mask))
    return 1.0 - inside / tokens


def _behaviour_kl(measured: Measured) -> Array:
    found, kept = _kept(measured)
    return masked_mean(found.batch.rollout_log_probs - found.batch.old_log_probs, kept, axis=BATCH)


def _final_loss(measured: Measured) -> Array:
    return measured.numbers["loss"]


def _nothing(measured: Measured) -> float | None:
    """What is logged only where a micro-batch is left out."""
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
"""Each metric of the actors, with the function that computes it; what the decoupled loss logs is at the end."""
