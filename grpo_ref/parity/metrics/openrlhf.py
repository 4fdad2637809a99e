"""The metrics of OpenRLHF's loss (`ActorPPOTrainer.training_step`) and of the experience.

The trainer takes these means over one micro-batch. It logs their mean over micro-batches and ranks, weighted
by tokens or by completions.
"""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, Floats, batch_sum, masked_mean, masked_sum
from grpo_ref.explain.dialects.openrlhf.kernels import limited, returned_with_penalty
from grpo_ref.levels import sequence_mean_level
from grpo_ref.loss import batch_of, differentiate
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.calls.openrlhf import scores_of
from grpo_ref.parity.measured import Measured, Metric, Rounded
from grpo_ref.parity.metrics.common import old_log_probs_of


def policy_loss_alone(measured: Measured) -> Rounded:
    """Return the loss without penalty and bonus, in the precision of the log-probabilities, `policy_loss`."""
    record = measured.record
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    batch = batch_of(record.log_probs, record.advantages, record.mask, **others)
    losses = differentiate(batch, replace(measured.recipe, kl_coef=0.0)).losses
    size = np.abs(losses).sum() if losses.dtype == np.float32 else 0.0
    return Rounded(batch_sum(losses), size)


def clip_ratio(measured: Measured) -> Array:
    """Return the fraction of tokens whose clipped branch is smaller, without the dual clip, `ppo_clip_ratio`."""
    advantages = measured.record.advantages
    if advantages.ndim < measured.record.mask.ndim:
        advantages = advantages[..., None]
    surrogate = measured.recipe.surrogate.settings
    ratio = np.exp(_log_ratio(measured))
    bound = np.clip(ratio, 1.0 - surrogate["clip_low"], 1.0 + surrogate["clip_high"])
    held = (bound * advantages < ratio * advantages).astype(ratio.dtype)
    return masked_mean(held, measured.record.mask, axis=BATCH)


def _log_ratio(measured: Measured) -> Floats:
    """Return the log-ratio of the surrogate, (P, G, T)."""
    record, settings = measured.record, measured.settings
    if settings["actor.policy_loss_type"] == "ppo":
        low, high = measured.recipe.log_ratio_limits
        limited_ratio: Floats = np.clip(record.log_probs - old_log_probs_of(measured), low, high)
        return limited_ratio
    corrected = settings["algo.advantage.is_correction_enable"]
    before = record.rollout_log_probs if corrected else old_log_probs_of(measured)
    levelled: Floats = sequence_mean_level(record.log_probs - before, record.mask)
    return levelled


def ppo_kl(measured: Measured) -> Array:
    """Return the mean of log πold - log πθ over the tokens, for any level and limits, `ppo_kl`."""
    record = measured.record
    return masked_mean(old_log_probs_of(measured) - record.log_probs, record.mask, axis=BATCH)


def vllm_kl(measured: Measured) -> Array:
    """Return the mean of log πrollout - log πold over the tokens, `vllm_kl`. It is not logged for gspo."""
    record = measured.record
    return masked_mean(record.rollout_log_probs - old_log_probs_of(measured), record.mask, axis=BATCH)


def kl(measured: Measured) -> Array:
    """Return the penalty, `kl`: a mean over tokens in the loss; in the reward, a mean of the completions' means."""
    record, recipe = measured.record, measured.recipe
    if _in_loss(measured):
        values = recipe.penalty(record).value if recipe.kl_coef else 0.0 * record.log_probs
        return masked_mean(values, record.mask, axis=BATCH)
    return _mean_of_means(measured, _cost(measured))


def logprobs_diff(measured: Measured) -> Array:
    """Return log πθ - log πref, averaged as `kl` but without an estimator, `logprobs_diff`."""
    record = measured.record
    if _in_loss(measured):
        no_reference = measured.recipe.kl_coef == 0.0
        ref = record.log_probs if no_reference else record.ref_log_probs
        return masked_mean(record.log_probs - ref, record.mask, axis=BATCH)
    penalized = measured.recipe.advantage.kernel is returned_with_penalty
    apart = record.old_log_probs - record.ref_log_probs if penalized else np.zeros(record.mask.shape)
    return _mean_of_means(measured, apart)


def _in_loss(measured: Measured) -> bool:
    """Return true if a loss was recorded, with its penalty."""
    return hasattr(measured.record, "log_probs")


def _cost(measured: Measured) -> Floats:
    """Return the penalty in the reward before its weight, (P, G, T); 0 if there is none."""
    advantage, record = measured.recipe.advantage, measured.record
    if advantage.kernel is not returned_with_penalty:
        return np.zeros(record.mask.shape)
    term = advantage.settings["penalty"](log_probs=record.old_log_probs, ref_log_probs=record.ref_log_probs)
    cost: Floats = term.value
    return cost


def _mean_of_means(measured: Measured, values: Floats) -> Floats:
    """Return the mean over completions of their means; NaN if one has no token."""
    mask = measured.record.mask
    with np.errstate(invalid="ignore"):
        mean: Floats = np.mean(masked_sum(values, mask, axis=TOKENS) / mask.sum(TOKENS))
    return mean


def mean_return(measured: Measured) -> Rounded:
    """Return the mean over completions of the limited reward minus the whole penalty, `return`. gamma is ignored.

    Rewards and penalty are float32, whatever the precision of the log-probabilities.
    """
    settings, record = measured.settings, measured.record
    advantage = measured.recipe.advantage
    rewards = limited(record.rewards, scores=scores_of(advantage), limits=settings["reward.clip_range"])
    costs, weight = _cost(measured), advantage.settings.get("kl_coef", 0.0)
    paid, most = (weight * masked_sum(each, record.mask, axis=TOKENS) for each in (costs, abs(costs)))
    return Rounded(np.mean(rewards - paid), np.mean(abs(rewards) + most))


def group_reward_std(measured: Measured) -> Floats:
    """Return the mean of the groups' standard deviations (divisor G - 1), `group_reward_std`."""
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
"""The metrics, by the name that is logged. `PolicyLoss` returns ppo_clip_ratio as clip_ratio."""
