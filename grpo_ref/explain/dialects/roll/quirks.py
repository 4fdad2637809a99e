"""What ROLL alone does: rewards that are limited, penalized and whitened by token, filters, weights and levels."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages.moments import reward_std, whiten
from grpo_ref.arrays import COMPLETIONS, MEMBERS, TOKENS, Array, array_namespace, at_least, is_set, where_mask
from grpo_ref.explain import calls
from grpo_ref.explain.dialect import BONUS, Call, Dialect
from grpo_ref.recipes import Slot

EPS = 1e-6
"""What is added to the standard deviation of the rewards."""
GROUP = -2
"""The axis of a group's completions where the tokens have one too."""


def over_batch(rewards: Array, *, centered: bool = True, divided: bool = True) -> Array:
    """Rewards minus the mean of the batch, or divided by its standard deviation, or one of both.

        A = (r - mean) / (std + 1e-6),    over all completions of a domain, divisor n - 1

    Args:
      rewards: (P, G), one row per prompt.
      centered: whether the mean is taken off.
      divided: whether what is left is divided.

    Returns:
      (P, G) advantages.

    ROLL `reward_norm`, norm_mean_type and norm_std_type.
    """
    xp = array_namespace(rewards)
    left = rewards - xp.mean(rewards, axis=COMPLETIONS, keepdims=True) if centered else rewards
    return left / (reward_std(rewards, axis=COMPLETIONS, ddof=1) + EPS) if divided else left


def token_returns(
    rewards: Array,
    mask: Array,
    *,
    scores: Slot,
    limit: float | None = None,
    gamma: float = 1.0,
    whiten_rewards: bool = False,
    whiten_advantages: bool = False,
    clip: float | None = None,
) -> Array:
    """The scores stand at the last token and are discounted back; then they are whitened and limited.

        gₜ = clip(scores(r), ± limit) at the last token, else 0,   Gₜ = Σₛ γ^(s - t) gₛ    over s at t or after
        A = clip((G - mean) / √(var + 1e-8), ± clip)    over the tokens of the batch

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens; a hole counts as a place.
      scores: the part that normalizes the rewards, (P, G) -> (P, G).
      limit: reward_clip; None is none.
      gamma: the discount per place.
      whiten_rewards: whether g is whitened over the tokens first.
      whiten_advantages: whether G is.
      clip: advantage_clip; None is none.

    Returns:
      (P, G, T) advantages, 0 on padding.

    ROLL `reward_postprocess`, `compute_token_reward` and `compute_advantage`.
    """
    gains = _at_last(_limited(scores(rewards=rewards), limit), mask)
    return _returned(gains, mask, gamma, whiten_rewards, whiten_advantages, clip)


def token_returns_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    limit: float | None = None,
    gamma: float = 1.0,
    whiten_rewards: bool = False,
    whiten_advantages: bool = False,
    clip: float | None = None,
) -> Array:
    """`token_returns` of rewards from which the KL of each token is subtracted, and which are limited again.

        gₜ = clip(clip(scores(r), ± limit) at the last token - kl_coef penalty(log πold, log πref), ± limit)

    Args:
      rewards, mask, scores, limit, gamma, whiten_rewards, whiten_advantages, clip: as in `token_returns`.
      old_log_probs, ref_log_probs: (P, G, T) in nats.
      penalty: kl_penalty.
      kl_coef: init_kl_coef.

    Returns:
      (P, G, T) advantages, 0 on padding.

    ROLL `compute_token_reward`, add_token_level_kl.
    """
    cost = kl_coef * penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    gains = _at_last(_limited(scores(rewards=rewards), limit), mask) - where_mask(mask, cost)
    return _returned(_limited(gains, limit), mask, gamma, whiten_rewards, whiten_advantages, clip)


def _limited(values: Array, limit: float | None) -> Array:
    return array_namespace(values).clip(values, -limit, limit) if limit else values


def _at_last(scores: Array, mask: Array) -> Array:
    """(P, G, T) the score at the last token of each completion, 0 elsewhere."""
    xp = array_namespace(scores, mask)
    present = xp.astype(is_set(mask), scores.dtype)
    after = xp.flip(xp.cumulative_sum(xp.flip(present, axis=TOKENS), axis=TOKENS), axis=TOKENS)
    return xp.where(is_set(mask) & (after == 1.0), scores[..., None], 0.0)


def _returned(
    gains: Array, mask: Array, gamma: float, whiten_rewards: bool, whiten_advantages: bool, clip: float | None
) -> Array:
    xp = array_namespace(gains, mask)
    several = xp.sum(xp.astype(is_set(mask), gains.dtype), axis=(-3, -2, -1), keepdims=True) > 1.0
    if whiten_rewards:
        gains = xp.where(several, whiten(gains, mask, ddof=1, eps=1e-8), gains)
    places = xp.arange(gains.shape[TOKENS])
    ahead = xp.astype(places[:, None] - places[None, :], gains.dtype)
    discounts = xp.where(ahead >= 0.0, gamma ** at_least(ahead, 0.0), 0.0)
    returns = where_mask(mask, xp.matmul(gains, xp.astype(discounts, gains.dtype)))
    if whiten_advantages:
        returns = xp.where(several, whiten(returns, mask, ddof=1, eps=1e-8), returns)
    return returns if clip is None else xp.clip(returns, -clip, clip)


def admitted(
    rewards: Array,
    lengths: Array,
    max_length: int,
    *,
    below_budget: bool = False,
    between: tuple[float, float] | None = None,
    longest_error: float | None = None,
) -> Array:
    """Completions of a group that is neither too easy nor too hard, and that are not as long as the budget.

    Args:
      rewards: (P, G), what the verifier says.
      lengths: (P, G) tokens of each completion.
      max_length: the generation budget in tokens.
      below_budget: max_len_mask; a completion that ends with the last token of the budget is out too.
      between: the thresholds of difficulty_mask, between which the group's mean reward has to be; or None.
      longest_error: with error_max_len_clip, what has reward 0 is in below this length, reward 1 always, and
        others never; None is no such filter.

    Returns:
      (P, G) True where a completion takes part.

    ROLL `get_sample_level_mask`.
    """
    xp = array_namespace(rewards, lengths)
    keep = xp.ones(rewards.shape, dtype=xp.bool)
    if below_budget:
        keep = keep & (lengths != max_length)
    if between is not None and rewards.shape[MEMBERS] > 1:
        mean = xp.mean(rewards, axis=MEMBERS, keepdims=True)
        keep = keep & (mean > between[0]) & (mean < between[1])
    if longest_error is not None:
        keep = keep & (((rewards == 0.0) & (lengths < longest_error)) | (rewards == 1.0))
    return keep


def mean_inside(rewards: Array, *, low: float = -1.0, high: float = 1.0) -> Array:
    """Only groups whose mean reward is strictly between two thresholds; the others are drawn anew.

    Args:
      rewards: (P, G), one row per prompt.
      low, high: threshold_down and threshold_up.

    Returns:
      (P,) True for groups that are kept.

    ROLL `query_filter`, "mean_filter".
    """
    mean = array_namespace(rewards).mean(rewards, axis=MEMBERS)
    return (mean > low) & (mean < high)


def spread_above(rewards: Array, *, threshold: float = 0.0) -> Array:
    """Only groups whose standard deviation is above a threshold; `mixed_groups` where that is 0.

    Args:
      rewards: (P, G), one row per prompt; the divisor is G - 1.
      threshold: std_threshold; -1, the default, drops nothing.

    Returns:
      (P,) True for groups that are kept.

    ROLL `query_filter`, "std_filter".
    """
    return reward_std(rewards, axis=MEMBERS, ddof=1)[..., 0] > threshold


def segment_mean_level(log_ratio: Array, mask: Array) -> Array:
    """All tokens of an unbroken stretch of the mask share its geometric mean.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding may hold anything.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), exactly 0 on padding.

    ROLL `compute_segment_masked_mean`.
    """
    xp = array_namespace(log_ratio, mask)
    gaps = xp.cumulative_sum(xp.astype(~is_set(mask), log_ratio.dtype), axis=TOKENS)
    together = (
        (gaps[..., :, None] == gaps[..., None, :]) & is_set(mask)[..., None, :] & is_set(mask)[..., None]
    )
    weights = xp.astype(together, log_ratio.dtype)
    sums = xp.sum(weights * where_mask(mask, log_ratio)[..., None, :], axis=TOKENS)
    return sums / at_least(xp.sum(weights, axis=TOKENS), 1.0)


def short_first(mask: Array) -> Array:
    """The shortest completion of a micro-batch counts three times as much as the longest one.

        w ~ 1.5 - (|o| - shortest) / (longest - shortest),    with a mean of 1 over the completions

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights, the same for all tokens of a completion.

    ROLL `compute_sample_weights`, length_loss_weight.
    """
    xp = array_namespace(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    axes = (-3, GROUP)
    shortest = xp.min(lengths, axis=axes, keepdims=True)
    width = xp.max(lengths, axis=axes, keepdims=True) - shortest
    weights = 1.5 - (lengths - shortest) / (width + 1e-8)
    return weights / xp.mean(weights, axis=axes, keepdims=True) + xp.zeros_like(mask)


def over_width(mask: Array, max_length: int) -> Array:
    """Sum over all tokens of all completions, divided by the padded width alone.

        W = m / L,    L the width of the batch, the prompts in it

    A batch of twice as many completions has twice the loss; in Dr. GRPO it is a mean.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: L.

    Returns:
      (P, G, T) weights.

    ROLL "seq-mean-token-sum-norm".
    """
    return mask / max_length


def scaled_by(mask: Array, max_length: int, *, aggregate: Slot, factor: float) -> Array:
    """An average times a constant, which penalty and surrogate share.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: as the average reads it.
      aggregate: the average.
      factor: rl_loss_coef.

    Returns:
      (P, G, T) weights.
    """
    weights: Array = factor * aggregate(mask=mask, max_length=max_length)
    return weights


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss; the bonus is averaged as the loss is, and has no gradient here."""
    bare = {key: value for key, value in config.items() if key not in ("entropy_loss_coef", "rl_loss_coef")}
    numbers = calls.loss(dialect, {**config, "entropy_loss_coef": 0.0}, record)
    bonus = dialect.concept(BONUS, config, 0.0)
    if bonus > 0.0:
        weights = dialect.recipe(**bare).weights(record.mask)
        values = np.where(record.mask != 0.0, record.entropies, 0.0)
        numbers["loss"] = numbers["loss"] - bonus * np.sum(weights * values)
    return numbers


def _admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Which completions are trained on, 1 or 0 each; the budget is the width of the mask."""
    fields = vars(record) | {"lengths": record.mask.sum(-1), "max_length": record.mask.shape[TOKENS]}
    return {"value": dialect.recipe(**config).admit(SimpleNamespace(**fields)).astype(float)}


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that is trained on, and 0 for the others."""
    return {"value": dialect.recipe(**config).keep(record).astype(float)}


CALLS: dict[str, Call] = {"loss": _loss, "admitted completions": _admitted, "kept groups": _kept_groups}
"""Calls of ROLL's recorded cases that other trainers' cases do not have, or that differ there."""
