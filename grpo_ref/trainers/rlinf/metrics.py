"""What RLinf's actors log of the loss, by the names they log it under, as a single micro-batch gives it.

Everything is averaged over tokens but the losses, which have the average of `loss_agg_func`. Where the first
completion of a micro-batch is empty, and there are others, all metrics of the surrogate are 0.
"""

from collections.abc import Callable
from math import inf

from grpo_ref.arrays import BATCH, Array, array_namespace, at_least, batch_sum, masked_mean, where_mask
from grpo_ref.loss import Differentiated
from grpo_ref.trainers.dialect import Measured, Metric
from grpo_ref.trainers.rlinf.quirks import averages, judged, unless_first_is_empty

OfTokens = Callable[[Differentiated, Measured], Array]


def _mean(values: OfTokens) -> Metric:
    """The mean over the tokens of some values, or 0 if the micro-batch is left out."""

    def metric(measured: Measured) -> Array:
        found = judged(measured.recipe, measured.record, stops=False)
        mean = masked_mean(values(found, measured), found.batch.mask, axis=BATCH)
        return mean * _counts(found, measured)

    return metric


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


def _counts(found: Differentiated, measured: Measured) -> Array | float:
    """0 if the micro-batch is left out for its first completion, else 1."""
    left_out = any(part.kernel is unless_first_is_empty for part in measured.recipe.corrections)
    return unless_first_is_empty(found.batch.mask)[..., 0, 0, 0] if left_out else 1.0


def _ratio(found: Differentiated, measured: Measured) -> Array:
    return array_namespace(found.batch.log_ratio).exp(found.batch.log_ratio)


def _off_one(found: Differentiated, measured: Measured) -> Array:
    return abs(_ratio(found, measured) - 1.0)


def _clipped(found: Differentiated, measured: Measured) -> Array:
    bounds = measured.recipe.surrogate.settings
    ratio = _ratio(found, measured)
    return array_namespace(ratio).clip(ratio, 1.0 - bounds["clip_low"], 1.0 + bounds["clip_high"])


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


def _sampler_mismatch(measured: Measured) -> Array:
    """How far the sampler is off, in nats per token; an empty completion changes nothing here."""
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


def _nothing(measured: Measured) -> float:
    """What is logged only where a micro-batch is left out."""
    return 0.0


METRICS: dict[str, Metric] = {
    "actor/policy_loss": _summed(_policy_loss),
    "actor/policy_loss_abs": _summed(_policy_loss_abs),
    "actor/ratio": _mean(_ratio),
    "actor/ratio_abs": _mean(_off_one),
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
