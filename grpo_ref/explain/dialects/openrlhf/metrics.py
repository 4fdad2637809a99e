"""What OpenRLHF logs: of the loss (`ActorPPOTrainer.training_step`) and of the experience.

The trainer takes these means over one micro-batch; what it logs in the end is their mean over micro-batches
and ranks, weighted by tokens or by completions.
"""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, Floats, batch_sum, masked_mean, masked_sum
from grpo_ref.explain.calls import OPTIONAL
from grpo_ref.explain.dialect import Measured, Metric, Rounded
from grpo_ref.explain.dialects.openrlhf.quirks import limited, returned_with_penalty, scores_of
from grpo_ref.levels import sequence_mean_level
from grpo_ref.loss import batch_of, differentiate


def policy_loss_alone(measured: Measured) -> Rounded:
    """The loss without penalty and bonus, `policy_loss`, in the precision of the log-probabilities."""
    record = measured.record
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    batch = batch_of(record.log_probs, record.advantages, record.mask, **others)
    losses = differentiate(batch, replace(measured.recipe, kl_coef=0.0)).losses
    size = np.abs(losses).sum() if losses.dtype == np.float32 else 0.0
    return Rounded(batch_sum(losses), size)


def clip_ratio(measured: Measured) -> Array:
    """Share of the tokens whose clipped branch is the smaller one, `ppo_clip_ratio`; a dual clip is not counted."""
    advantages = measured.record.advantages
    if advantages.ndim < measured.record.mask.ndim:
        advantages = advantages[..., None]
    surrogate = measured.recipe.surrogate.settings
    ratio = np.exp(_log_ratio(measured))
    bound = np.clip(ratio, 1.0 - surrogate["clip_low"], 1.0 + surrogate["clip_high"])
    held = (bound * advantages < ratio * advantages).astype(ratio.dtype)
    return masked_mean(held, measured.record.mask, axis=BATCH)


def _log_ratio(measured: Measured) -> Floats:
    """(P, G, T) of which the surrogate is taken."""
    record, settings = measured.record, vars(measured.settings)
    if settings["actor.policy_loss_type"] == "ppo":
        low, high = measured.recipe.log_ratio_limits
        limited_ratio: Floats = np.clip(record.log_probs - _old(measured), low, high)
        return limited_ratio
    corrected = settings["algo.advantage.is_correction_enable"]
    before = record.rollout_log_probs if corrected else _old(measured)
    levelled: Floats = sequence_mean_level(record.log_probs - before, record.mask)
    return levelled


def _old(measured: Measured) -> Floats:
    """Return log πold, (P, G, T); on-policy, it equals log πθ."""
    old: Floats = getattr(measured.record, "old_log_probs", measured.record.log_probs)
    return old


def ppo_kl(measured: Measured) -> Array:
    """Mean of log πold - log πθ over the tokens, whatever the level and its limits, `ppo_kl`."""
    record = measured.record
    return masked_mean(_old(measured) - record.log_probs, record.mask, axis=BATCH)


def vllm_kl(measured: Measured) -> Array:
    """Mean of log πrollout - log πold over the tokens, `vllm_kl`; not logged for gspo."""
    record = measured.record
    return masked_mean(record.rollout_log_probs - _old(measured), record.mask, axis=BATCH)


def kl(measured: Measured) -> Array:
    """The penalty, `kl`: a mean over the tokens in the loss; in the reward, a mean of the completions' means."""
    record, recipe = measured.record, measured.recipe
    if _in_loss(measured):
        values = recipe.penalty(record).value if recipe.kl_coef else 0.0 * record.log_probs
        return masked_mean(values, record.mask, axis=BATCH)
    return _mean_of_means(measured, _cost(measured))


def logprobs_diff(measured: Measured) -> Array:
    """The same of log πθ - log πref, which no estimator bends, `logprobs_diff`."""
    record = measured.record
    if _in_loss(measured):
        no_reference = measured.recipe.kl_coef == 0.0
        ref = record.log_probs if no_reference else record.ref_log_probs
        return masked_mean(record.log_probs - ref, record.mask, axis=BATCH)
    penalized = measured.recipe.advantage.kernel is returned_with_penalty
    apart = record.old_log_probs - record.ref_log_probs if penalized else np.zeros(record.mask.shape)
    return _mean_of_means(measured, apart)


def _in_loss(measured: Measured) -> bool:
    """Whether a loss was recorded, with its penalty."""
    return hasattr(measured.record, "log_probs")


def _cost(measured: Measured) -> Floats:
    """(P, G, T) the penalty in the reward, before its weight; 0 where it is not there."""
    advantage, record = measured.recipe.advantage, measured.record
    if advantage.kernel is not returned_with_penalty:
        return np.zeros(record.mask.shape)
    term = advantage.settings["penalty"](log_probs=record.old_log_probs, ref_log_probs=record.ref_log_probs)
    cost: Floats = term.value
    return cost


def _mean_of_means(measured: Measured, values: Floats) -> Floats:
    """The mean over completions of their means, NaN where one has no token."""
    mask = measured.record.mask
    with np.errstate(invalid="ignore"):
        mean: Floats = np.mean(masked_sum(values, mask, axis=TOKENS) / mask.sum(TOKENS))
    return mean


def mean_return(measured: Measured) -> Rounded:
    """Mean over completions of the limited reward minus the whole penalty, `return`; gamma has no part in it.

    Rewards and penalty are float32, whatever the log-probabilities are.
    """
    settings, record = vars(measured.settings), measured.record
    advantage = measured.recipe.advantage
    rewards = limited(record.rewards, scores=scores_of(advantage), limits=settings["reward.clip_range"])
    costs, weight = _cost(measured), advantage.settings.get("kl_coef", 0.0)
    paid, most = (weight * masked_sum(each, record.mask, axis=TOKENS) for each in (costs, abs(costs)))
    return Rounded(np.mean(rewards - paid), np.mean(abs(rewards) + most))


def group_reward_std(measured: Measured) -> Floats:
    """Mean over groups of the standard deviation of their rewards, divisor G - 1, `group_reward_std`."""
    spread: Floats = np.mean(np.std(measured.record.rewards, axis=-1, ddof=1))
    return spread


METRICS: dict[str, Metric] = {
    "policy_loss": policy_loss_alone,
    "clip_ratio": clip_ratio,
    "ppo_clip_ratio": clip_ratio,
    "ppo_kl": ppo_kl,
    "vllm_kl": vllm_kl,
    "kl": kl,
    "logprobs_diff": logprobs_diff,
    "entropy_loss": lambda measured: masked_mean(measured.record.entropies, measured.record.mask, axis=BATCH),
    "return": mean_return,
    "group_reward_std": group_reward_std,
    "reward": lambda measured: np.mean(measured.record.rewards),
}
"""By the name that is logged; `PolicyLoss` returns ppo_clip_ratio as clip_ratio."""
