"""The metrics of oat's `PPOLearner.learning_step` for one mini-batch.

With several, `pg_loss` is that of the last.
"""

from collections.abc import Callable

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, Floats, masked_mean, masked_sum
from grpo_ref.parity.calls.understand_r1_zero import admitted
from grpo_ref.parity.measured import Measured, Metric


def pg_loss(measured: Measured) -> Array:
    """Return the whole loss, `pg_loss`: the penalty is added in place to the number that is logged."""
    return measured.numbers["loss"]


def reg_loss(measured: Measured) -> Floats:
    """Return the weighted penalty, averaged as the loss is, `reg_loss`."""
    recipe, length = measured.recipe, measured.settings.generate_max_length
    weights = recipe.weights(admitted(measured.record, recipe), max_length=length)
    values = np.where(measured.record.mask != 0.0, recipe.penalty(measured.record).value, 0.0)
    total: Floats = recipe.kl_coef * (weights * values).sum()
    return total


def kl3(measured: Measured) -> Floats:
    """Return the mean over completions of their summed k3, `kl3`.

    Completions excluded from the loss count too.
    """
    values = measured.recipe.penalty(measured.record).value
    mean: Floats = masked_sum(values, measured.record.mask, axis=TOKENS).mean()
    return mean


def _extreme(choose: Callable[[Floats], Floats]) -> Metric:
    """Return a metric: the largest or smallest log-ratio. Padding counts as 0."""
    return lambda measured: choose(_log_ratio(measured) * measured.record.mask)


def _log_ratio(measured: Measured) -> Floats:
    """Return log πθ - log πold, (P, G, T); on-policy, it is 0."""
    old = getattr(measured.record, "old_log_probs", measured.record.log_probs)
    log_ratio: Floats = measured.record.log_probs - old
    return log_ratio


def _branches(measured: Measured) -> tuple[Floats, Floats]:
    """Return the unclipped and the clipped loss, (P, G, T). The larger one counts."""
    ratio, advantages = np.exp(_log_ratio(measured)), measured.record.advantages[..., None]
    width = measured.settings.cliprange
    return -advantages * ratio, -advantages * np.clip(ratio, 1.0 - width, 1.0 + width)


def pg_clipfrac(measured: Measured) -> Floats:
    """Return the mean over completions of their clipped fractions, `pg_clipfrac`; NaN if one has no token."""
    free, bound = _branches(measured)
    mask = measured.record.mask
    with np.errstate(invalid="ignore"):
        share: Floats = (((bound > free) * mask).sum(TOKENS) / mask.sum(TOKENS)).mean()
    return share


def zero_pg_loss_count(measured: Measured) -> Floats:
    """Count the places with a loss of exactly 0, including padding, `zero_pg_loss_count`."""
    count: Floats = (np.maximum(*_branches(measured)) == 0.0).sum().astype(float)
    return count


def _groups_of(reward: float) -> Metric:
    """Return a metric: the number of groups with this mean reward, after shaping."""
    return lambda measured: (measured.recipe.reward(measured.record).mean(-1) == reward).sum()


METRICS: dict[str, Metric] = {
    "pg_loss": pg_loss,
    "reg_loss": reg_loss,
    "kl3": kl3,
    "entropy": lambda measured: masked_mean(measured.record.entropies, measured.record.mask, axis=BATCH),
    "logprobs_diff_max": _extreme(np.max),
    "logprobs_diff_min": _extreme(np.min),
    "pg_clipfrac": pg_clipfrac,
    "zero_pg_loss_count": zero_pg_loss_count,
    "adv_min": lambda measured: measured.numbers["value"].min(),
    "adv_max": lambda measured: measured.numbers["value"].max(),
    "all_zero_rewards_count": _groups_of(0.0),
    "all_one_rewards_count": _groups_of(1.0),
}
"""The metrics, by the name that is logged."""
