"""Kernels that several trainers share."""

from grpo_ref.advantages.moments import whiten
from grpo_ref.arrays import TOKENS, Array, array_namespace, at_least, is_set
from grpo_ref.recipes import Slot


def returned_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    penalty: Slot,
    kl_coef: float,
    gamma: float = 1.0,
) -> Array:
    """Compute REINFORCE++ with a KL penalty in the reward: a token's own penalty and the discounted ones after it.

        Gₜ = γ^(last - t) r - kl_coef Σ_{u ≥ t} γ^(u - t) penalty_u,   A = (G - mean) / √(var + 1e-8)

    Args:
      rewards: (P, G), one row per prompt; each stands at the last token.
      mask: (P, G, T) 1 on completion tokens, which come first: the masks of both trainers have no holes.
      old_log_probs, ref_log_probs, penalty, kl_coef: as in `penalized`.
      gamma: `algorithm.gamma` (SkyRL: `trainer.algorithm.gamma`), the discount per token.

    Returns:
      (P, G, T), 0 on padding; mean and variance are over the tokens of the batch.

    EasyR1 and SkyRL `compute_reinforce_plus_plus_outcome_advantage` after `apply_kl_penalty` (SkyRL: `apply_reward_kl_penalty`).
    """
    xp = array_namespace(rewards, mask)
    present = xp.astype(is_set(mask), rewards.dtype)
    cost = penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    places = xp.arange(mask.shape[TOKENS])
    last = xp.sum(present, axis=TOKENS, keepdims=True) - 1.0
    gains = xp.where(xp.astype(places, rewards.dtype) == last, rewards[..., None], 0.0)
    gains = gains - kl_coef * xp.where(is_set(mask), cost, 0.0)
    apart = places[:, None] - places[None, :]
    discounts = xp.where(apart >= 0, gamma ** xp.astype(at_least(apart, 0), gains.dtype), 0.0)
    return whiten(xp.matmul(gains, discounts), mask, ddof=1, eps=1e-8)


def turn_token_mean(mask: Array) -> Array:
    """Mean over the tokens of each turn, then over all turns of the batch.

        W = m / (n |turn|),    n turns in the batch

    A turn is an unbroken segment of the mask: the environment's tokens lie between two turns.

    Args:
      mask: (P, G, T) 1 on the policy's tokens.

    Returns:
      (P, G, T) weights.

    ROLL "seq-mean-token-mean" and SkyRL "sequence_mean", where a turn is a sample.
    """
    xp = array_namespace(mask)
    gaps = xp.cumulative_sum(xp.astype(~is_set(mask), xp.int64), axis=TOKENS)
    together = (gaps[..., :, None] == gaps[..., None, :]) & is_set(mask)[..., None, :]
    return turn_token_sum(mask) / at_least(xp.sum(xp.astype(together, mask.dtype), axis=TOKENS), 1.0)


def turn_token_sum(mask: Array) -> Array:
    """Sum over the tokens of each turn, then the mean over all turns of the batch.

        W = m / n,    n turns in the batch

    Args:
      mask: (P, G, T) 1 on the policy's tokens; a turn is an unbroken segment of it.

    Returns:
      (P, G, T) weights.

    ROLL "seq-mean-token-sum", where a turn is a sample.
    """
    xp = array_namespace(mask)
    present = xp.astype(is_set(mask), mask.dtype)
    starts = xp.concat([present[..., :1], at_least(present[..., 1:] - present[..., :-1], 0.0)], axis=TOKENS)
    return mask / at_least(xp.sum(starts, axis=(-3, -2, -1), keepdims=True), 1.0)
