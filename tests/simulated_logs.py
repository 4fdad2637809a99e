"""Batches of known truth, logged as TRL and as verl log them, healthy or with one mistake."""

from dataclasses import replace

import numpy as np

from grpo_ref import DAPO, GRPO, group_normalized, policy_loss

TOKEN_MEAN = replace(DAPO, kl_coef=0.04)
SEQUENCE_MEAN = replace(GRPO, kl_coef=0.04)
BUDGET = 24

# Each changes advantages, old log-probabilities, mask, loss or the logged numbers.
MISTAKES = (
    *("advantages of the batch", "no baseline", "ddof 0", "good advantages times 1.4", "sign of the loss"),
    *("stale old log-probabilities", "mask inverted", "last token lost", "sign of the KL", "k1 for k3"),
    *("loss divided by 4", "frozen", "weights ignored", "lengths with the prompt", "std of the batch"),
    "KL in the reward",
)


def batch(rng, prompts=8, size=8, tilt=0.0):
    """Return rewards of 0 and 1, mask, log-probabilities and those of a reference."""
    solved = rng.beta(0.8, 0.8, (prompts, 1))
    rewards = (rng.random((prompts, size)) < solved).astype(float)
    lengths = np.clip(rng.geometric(0.12, rewards.shape) + np.rint(tilt * rewards).astype(int), 1, BUDGET)
    mask = (np.arange(BUDGET) < lengths[..., None]).astype(float)
    log_probs = np.log(rng.uniform(0.2, 1.0, mask.shape))
    return rewards, mask, log_probs, log_probs + rng.normal(0, 0.1, mask.shape)


def advantages_of(rewards, mistake):
    if mistake == "advantages of the batch":
        return (rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-4)
    if mistake == "no baseline":
        return rewards.copy()
    if mistake == "ddof 0":
        return group_normalized(rewards, ddof=0)
    advantages = group_normalized(rewards)
    if mistake == "good advantages times 1.4":
        return np.where(advantages > 0, 1.4 * advantages, advantages)
    return advantages


def logged(rng, recipe, mistake=None, **shape):
    """Return the numbers of one step as TRL and as verl log them."""
    rewards, mask, log_probs, reference = batch(rng, **shape)
    advantages = advantages_of(rewards, mistake)
    old = log_probs
    if mistake == "stale old log-probabilities":
        old = log_probs + rng.normal(0, 0.15, log_probs.shape)
    used = mask
    if mistake == "mask inverted" and (mask < 1.0).any():
        used = 1.0 - mask
    if mistake == "last token lost":
        used = mask.copy()
        rows, columns = np.indices(rewards.shape)
        used[rows, columns, mask.sum(-1).astype(int) - 1] = 0.0
    applied = replace(recipe, kl_coef=-recipe.kl_coef) if mistake == "sign of the KL" else recipe
    arrays = {"old_log_probs": old, "ref_log_probs": reference, "max_length": BUDGET}
    result = policy_loss(log_probs, advantages, used, recipe=applied, **arrays)
    alone = policy_loss(log_probs, advantages, used, recipe=replace(applied, kl_coef=0.0), **arrays)
    loss, policy, norm = float(result.loss), float(alone.loss), float(np.linalg.norm(result.gradient))
    if mistake == "sign of the loss":
        loss, policy = loss - 2.0 * policy, -policy
    if mistake == "loss divided by 4":
        loss, policy, norm = loss / 4.0, policy / 4.0, norm / 4.0
    apart = reference - log_probs
    kl = -apart if mistake == "k1 for k3" else np.exp(apart) - apart - 1.0
    lengths, stds = mask.sum(-1), rewards.std(axis=1, ddof=1)
    ratio = np.exp(log_probs - old)
    low = (ratio < 0.8) & (advantages[..., None] < 0.0)
    high = (ratio > 1.2) & (advantages[..., None] > 0.0)

    def by_token(values):
        return float((values * mask).sum() / mask.sum())

    more = 5.0 if mistake == "lengths with the prompt" else 0.0
    ended = lengths[lengths < BUDGET]
    truncated = float((lengths == BUDGET).mean())
    trl = {
        "loss": loss,
        "grad_norm": 0.0 if mistake == "frozen" else norm,
        "reward": float(rewards.mean()) * (2.0 if mistake == "weights ignored" else 1.0),
        "reward_std": float(rewards.std(ddof=1) if mistake == "std of the batch" else stds.mean()),
        "frac_reward_zero_std": float((stds < 1e-8).mean()),
        "rewards/right/mean": float(rewards.mean()),
        "rewards/right/std": float(rewards.std(ddof=1)),
        "kl": by_token(kl),
        "completions/mean_length": float(lengths.mean()) + more,
        "completions/min_length": float(lengths.min()) + more,
        "completions/max_length": float(lengths.max()) + more,
        "completions/clipped_ratio": truncated,
        "completions/mean_terminated_length": float(ended.mean()) if ended.size else 0.0,
        "clip_ratio/low_mean": by_token(low),
        "clip_ratio/high_mean": by_token(high),
        "clip_ratio/region_mean": by_token(low | high),
    }
    shift = 0.001 * by_token(kl) * float(lengths.mean()) if mistake == "KL in the reward" else 0.0
    verl = {
        "critic/score/mean": float(rewards.mean()),
        "critic/score/min": float(rewards.min()),
        "critic/score/max": float(rewards.max()),
        "critic/rewards/mean": float(rewards.mean()) - shift,
        "critic/advantages/mean": by_token(advantages[..., None] + 0.0 * mask),
        "critic/advantages/max": float(advantages.max()),
        "critic/advantages/min": float(advantages.min()),
        "critic/returns/mean": by_token(advantages[..., None] + 0.0 * mask),
        "actor/pg_loss": policy,
        "actor/kl_loss": by_token(kl),
        "actor/pg_clipfrac": by_token(low | high),
        "actor/ppo_kl": by_token(old - log_probs),
        "actor/grad_norm": norm,
        "response_length/mean": float(lengths.mean()),
        "response_length/min": float(lengths.min()),
        "response_length/max": float(lengths.max()),
        "response_length/clip_ratio": truncated,
        "prompt_length/mean": 10.0,
        "perf/total_num_tokens": float(lengths.sum() + 10 * lengths.size),
    }
    return trl, verl


def averaged(rows):
    """Return the mean of rows, as a trainer logs it over several steps."""
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
