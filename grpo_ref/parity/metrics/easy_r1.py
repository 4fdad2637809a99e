"""The metrics of EasyR1's loss (`update_policy`), of the penalty in the reward, and of the batch.

A metric of the loss is the mean over the micro-batches of a step. The logged penalty in the loss is that of
the last micro-batch.
"""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, Floats, is_set, masked_mean, masked_sum
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.parity.metrics.common import old_log_probs_of


def pg_loss(measured: Measured) -> Array:
    """Return the loss without penalty, `actor/pg_loss`."""
    record = measured.record
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    recipe = replace(measured.recipe, kl_coef=0.0)
    return policy_loss(record.log_probs, record.advantages, record.mask, recipe=recipe, **others).loss


def kl_loss(measured: Measured) -> Floats:
    """Return the penalty in the loss without its weight, averaged as the loss is, `actor/kl_loss`."""
    recipe, mask = measured.recipe, measured.record.mask
    values = np.where(mask != 0.0, recipe.penalty(measured.record).value, 0.0)
    mean: Floats = (recipe.weights(mask) * values).sum()
    return mean


def entropy_loss(measured: Measured) -> Floats:
    """Return the mean -log πθ of the sampled tokens, averaged as the loss is, `actor/entropy_loss`.

    It is not an entropy.
    """
    mask = measured.record.mask
    mean: Floats = (
        measured.recipe.weights(mask) * np.where(mask != 0.0, -measured.record.log_probs, 0.0)
    ).sum()
    return mean


def ppo_kl(measured: Measured) -> Array:
    """Return the mean of log πold - log πθ over the tokens, for any level and limits, `actor/ppo_kl`."""
    record = measured.record
    return masked_mean(old_log_probs_of(measured) - record.log_probs, record.mask, axis=BATCH)


def _branches(measured: Measured) -> tuple[Floats, Floats, Floats]:
    """Return the losses with the free ratio, with the clipped ratio, and of the dual clip, each (P, G, T)."""
    record, surrogate = measured.record, measured.recipe.surrogate.settings
    levelled = measured.recipe.level(record.log_probs - old_log_probs_of(measured), record.mask)
    ratio = np.exp(np.clip(levelled, *measured.recipe.log_ratio_limits))
    bound = np.clip(ratio, 1.0 - surrogate["clip_low"], 1.0 + surrogate["clip_high"])
    advantages = record.advantages
    if advantages.ndim < record.mask.ndim:
        advantages = advantages[..., None]
    return -advantages * ratio, -advantages * bound, -advantages * surrogate["max_ratio"] + 0.0 * ratio


def pg_clipfrac_higher(measured: Measured) -> Array:
    """Return the fraction of tokens that are clipped, above 1 or below, `actor/pg_clipfrac_higher`."""
    free, bound, _ = _branches(measured)
    return masked_mean((free < bound).astype(free.dtype), measured.record.mask, axis=BATCH)


def pg_clipfrac_lower(measured: Measured) -> Array:
    """Return the fraction of tokens that the dual clip limits, `actor/pg_clipfrac_lower`."""
    free, bound, dual = _branches(measured)
    held = (np.maximum(free, bound) > dual) & (dual > 0.0)
    return masked_mean(held.astype(free.dtype), measured.record.mask, axis=BATCH)


def kl_penalty(measured: Measured) -> Floats:
    """Return the mean over completions of the mean penalty in the reward, `actor/kl_penalty`."""
    record = measured.record
    values = measured.recipe.penalty(log_probs=record.old_log_probs, ref_log_probs=record.ref_log_probs).value
    mean: Floats = masked_mean(values, record.mask, axis=TOKENS).mean()
    return mean


def reward_after_penalty(measured: Measured) -> Floats:
    """Return the rewards after the penalty in the reward, if there is one, (P, G)."""
    record, settings = measured.record, measured.recipe.advantage.settings
    rewards: Floats = record.rewards
    if "kl_coef" not in settings:
        return rewards
    values = settings["penalty"](log_probs=record.old_log_probs, ref_log_probs=record.ref_log_probs).value
    after: Floats = rewards - settings["kl_coef"] * masked_sum(values, record.mask, axis=TOKENS)
    return after


def _of_tokens(measured: Measured) -> Floats:
    """Return the advantages of all tokens in one row."""
    value, mask = measured.numbers["value"], measured.record.mask
    tokens = (value[..., None] if value.ndim < mask.ndim else value) + 0.0 * mask
    row: Floats = tokens[is_set(mask)]
    return row


METRICS: dict[str, Metric] = {
    "actor/pg_loss": pg_loss,
    "actor/kl_loss": kl_loss,
    "actor/kl_coef": lambda measured: np.array(measured.settings.kl_coef),
    "actor/entropy_loss": entropy_loss,
    "actor/ppo_kl": ppo_kl,
    "actor/pg_clipfrac_higher": pg_clipfrac_higher,
    "actor/pg_clipfrac_lower": pg_clipfrac_lower,
    "actor/kl_penalty": kl_penalty,
    "critic/score/mean": lambda measured: np.mean(measured.record.rewards),
    "critic/rewards/mean": lambda measured: reward_after_penalty(measured).mean(),
    "critic/rewards/max": lambda measured: reward_after_penalty(measured).max(),
    "critic/rewards/min": lambda measured: reward_after_penalty(measured).min(),
    "critic/advantages/max": lambda measured: _of_tokens(measured).max(),
    "critic/advantages/min": lambda measured: _of_tokens(measured).min(),
}
"""The metrics, by the name that is logged."""
