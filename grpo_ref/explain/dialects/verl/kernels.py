"""Kernels of verl: the rejection of tokens, the weights of the others, and more."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from grpo_ref.advantages.moments import whiten
from grpo_ref.aggregation import fixed_length, token_sum
from grpo_ref.arrays import (
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.corrections import rejection
from grpo_ref.filters import mixed_groups
from grpo_ref.penalties import absolute, k1, k2, k3, straight_through
from grpo_ref.recipes import Slot, slot
from grpo_ref.rewards import soft_overlong
from grpo_ref.surrogates import dppo_kl, dppo_tv, geometric_mean_clipped
from grpo_ref.types import Term

SAFETY_BOUND = 20.0
"""Limit of the log-ratios of learner to sampler, in nats."""


def limited_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """Compute k3 as in verl: the log-ratio is limited to ± 20, then the value to 10.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats.

    verl `kl_penalty_forward`.
    """
    return k3(log_probs, ref_log_probs, max_log_ratio=SAFETY_BOUND, max_value=10.0)


def dppo_tv_against_old(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.2,
    high: float = 0.2,
    max_ratio: float = 3.0,
) -> Term:
    """Compute `dppo_tv` with the policy at the start of the update in place of the sampler.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats. verl recomputes πold by default.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability, clip_ratio_low and clip_ratio_high.
      max_ratio: largest ratio in the weight, clip_ratio_c. The smallest is exp(-20).

    verl `compute_policy_loss_dppo_tv`.
    """
    bounds = {"low": low, "high": high, "max_ratio": max_ratio}
    return dppo_tv(log_probs, log_probs - log_ratio, advantages, **bounds, min_ratio=math.exp(-SAFETY_BOUND))


def dppo_kl_against_old(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.2,
    high: float = 0.2,
    max_ratio: float = 3.0,
) -> Term:
    """Compute `dppo_kl` with the policy at the start of the update in place of the sampler.

    Args:
      log_ratio, log_probs, advantages, max_ratio: as in `dppo_tv_against_old`.
      low, high: thresholds in nats, clip_ratio_low and clip_ratio_high.

    verl `compute_policy_loss_dppo_kl`.
    """
    bounds = {"low": low, "high": high, "max_ratio": max_ratio, "eps": 1e-8}
    return dppo_kl(log_probs, log_probs - log_ratio, advantages, **bounds, min_ratio=math.exp(-SAFETY_BOUND))


def penalties(max_log_ratio: float = SAFETY_BOUND) -> dict[str, Slot]:
    """Return the values of kl_loss_type and algorithm.kl_penalty.

    Args:
      max_log_ratio: limit of the log-ratio in k3, in nats; infinite before verl 0.4.1.
    """
    limited = slot(k3, max_log_ratio=max_log_ratio, max_value=10.0)
    return {
        "kl": slot(k1),
        "k1": slot(k1),
        "abs": slot(absolute),
        "mse": slot(k2),
        "k2": slot(k2),
        "low_var_kl": limited,
        "k3": limited,
        "kl+": slot(straight_through, estimator=k1),
        "k1+": slot(straight_through, estimator=k1),
        "abs+": slot(straight_through, estimator=absolute),
        "mse+": slot(straight_through, estimator=k2),
        "k2+": slot(straight_through, estimator=k2),
        "low_var_kl+": slot(straight_through, estimator=limited_k3),
        "k3+": slot(straight_through, estimator=limited_k3),
    }


PENALTIES = penalties()
"""Values of kl_loss_type and algorithm.kl_penalty, in the described version."""


def geometric_mean_per_token(
    log_ratio: Array, advantages: Array, mask: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """Multiply GMPO's ratio by the mean of a completion's advantages.

    Each token is clipped by the sign of its own.

        s = mean(A) exp(1/|o| Σₜ zₜ),   zₜ as in `geometric_mean_clipped`, and 0 where Aₜ = 0

    With one advantage per completion this is `geometric_mean_clipped`.

    Args:
      log_ratio, advantages, mask, clip_low, clip_high: as in `geometric_mean_clipped`. Advantages may differ
        along a completion.

    verl `compute_policy_loss_geo_mean`.
    """
    xp = array_namespace(log_ratio, advantages, mask)
    good, bad = advantages > 0.0, advantages < 0.0
    idle = (advantages == 0.0) | (good & (log_ratio > clip_high)) | (bad & (log_ratio < -clip_low))
    held = xp.where(advantages == 0.0, 0.0, xp.clip(log_ratio, -clip_low, clip_high))
    mean = masked_mean(xp.where(idle, held, log_ratio), mask, axis=TOKENS, keepdims=True)
    scale = masked_mean(advantages, mask, axis=TOKENS, keepdims=True)
    value = xp.exp(mean) * scale + xp.zeros_like(log_ratio)
    return Term(value=value, slope=xp.where(idle, 0.0, value))


def summed_over_rows(mask: Array, max_length: int) -> Array:
    """Divide by a constant length, but not by the number of completions.

        W = m / L

    The actor then takes the mean over micro-batches, so the gradient grows with the size of a micro-batch.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: L, the padded length in tokens.

    Returns:
      (P, G, T) weights.

    Raises:
      ValueError: if max_length < 1.

    verl 0.4.0 to 0.7.0 `agg_loss`, seq-mean-token-sum-norm; verl #3741.
    """
    if max_length < 1:
        raise ValueError(f"max_length: expected at least 1 token, got {max_length}")
    return token_sum(mask) / max_length


def overlong_in_tokens(
    rewards: Array, lengths: Array, *, buffer: int, budget: int, factor: float = 1.0
) -> Array:
    """Subtract a penalty that grows over the last tokens of the budget, and beyond it.

        r + min(0, factor ((L - B) - |o|) / B),    L = budget, B = buffer

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion.
      buffer, budget: B and L in tokens, 0 < B <= L. The budget is max_resp_len, which may differ from the
        length at which completions are truncated.
      factor: the penalty of a completion of L tokens.

    Raises:
      ValueError: if buffer or budget is out of range.

    verl `DAPORewardManager`; DAPO, eq. 13, ends at -1.
    """
    if not 0 < buffer <= budget:
        raise ValueError(f"overlong_buffer: expected 0 < len <= max_resp_len, got {buffer} and {budget}")
    return rewards + array_namespace(rewards, lengths).clip(
        (budget - buffer - lengths) / buffer * factor, None, 0.0
    )


def groups_with_a_std(rewards: Array) -> Array:
    """Keep the groups whose standard deviation is not 0 as NumPy computes it.

        keep = std(r) ≠ 0

    For three rewards of 0.1 NumPy computes 1e-17, so the group is kept.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True for groups that take part. Without rounding errors this is `mixed_groups`.

    verl `replay_buffer.py`.
    """
    xp = array_namespace(rewards)
    deviation: Array = xp.std(rewards, axis=MEMBERS)
    return deviation != 0.0


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

        Gₜ = rₜ - kl_coef penaltyₜ + γ Gₜ₊₁,   A = (G - mean) / √(var + 1e-8)    over the tokens of the batch

    The reward is at the last token. t + 1 is the next token of the mask, after any gap.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs, ref_log_probs, penalty, kl_coef: as in `penalized`.
      gamma: algorithm.gamma, the discount per token.

    Returns:
      (P, G, T), 0 on padding.

    verl `compute_reinforce_plus_plus_outcome_advantage` after `apply_kl_penalty`.
    """
    xp = array_namespace(rewards, mask)
    cost = where_mask(mask, penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value)
    present = is_set(mask)
    following, returns = xp.zeros_like(rewards), []
    is_last = xp.ones_like(rewards, dtype=xp.bool)
    for t in reversed(range(mask.shape[TOKENS])):
        here = xp.where(is_last, rewards, 0.0) - kl_coef * cost[..., t] + gamma * following
        following = xp.where(present[..., t], here, following)
        is_last = is_last & ~present[..., t]
        returns.append(following)
    return whiten(xp.stack(returns[::-1], axis=TOKENS), mask, ddof=1, eps=1e-8)


class Bound(NamedTuple):
    """One condition of a rejection.

    Attributes:
      option: scope (token, seq_sum, seq_mean or seq_max) and estimator, as in "seq_mean_k3".
      low, high: the range that is kept, both ends included; for k1 a log-ratio in nats.
    """

    option: str
    low: float
    high: float


def close_to_sampler(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, bounds: tuple[Bound, ...]
) -> Array:
    """Keep the tokens, or completions, on which learner and sampler agree.

    The others are removed from the mask.

        kept where low <= D <= high for every bound,    D of v = log πrollout - log πold:
        k1 = v,  k2 = v² / 2,  k3 = e⁻ᵛ - 1 + v,   of the token, or its sum, mean or maximum over the completion

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; a token that the sampler reports as NaN is not kept.
      mask: (P, G, T) 1 on completion tokens.
      bounds: conditions that must all hold.

    Returns:
      (P, G, T) True where a token is kept.

    verl `compute_rollout_rejection_mask`.
    """
    kept = is_set(mask)
    for bound in bounds:
        over, _, estimator = bound.option.rpartition("_")
        weights = rejection(
            old_log_probs,
            rollout_log_probs,
            mask,
            estimator=estimator,
            over=over.removeprefix("seq_"),
            low=bound.low,
            high=bound.high,
            max_log_ratio=SAFETY_BOUND,
        )
        kept = kept & is_set(weights)
    return kept


def geometric_mean_weight(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, weights: Slot
) -> Array:
    """Return one weight per completion: the geometric mean of its tokens' weights.

        exp(1/|o| Σₜ log(wₜ + 1e-10))

    If a window drops a fraction x of a completion's tokens, they multiply its weight by 1e-10 to the power x,
    but do not make it 0.

    Args:
      old_log_probs, rollout_log_probs, mask: as in `truncated`.
      weights: the tokens' weights.

    Returns:
      (P, G, T) weights, constant over each completion.

    verl `compute_policy_loss_geo_mean`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    each = weights(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=mask)
    mean = masked_mean(xp.log(each + 1e-10), mask, axis=TOKENS, keepdims=True)
    return xp.exp(mean) + xp.zeros_like(each)


def afresh(log_probs: Array, old_log_probs: Array, mask: Array, *, part: Slot) -> Array:
    """Compute a correction from the current policy instead of the old one, anew at each step.

    Args:
      log_probs: (P, G, T) of the policy that is trained, held constant, in the place of the learner's.
      old_log_probs: (P, G, T) in the place of the sampler's, which they are in bypass mode.
      mask: (P, G, T) 1 on completion tokens.
      part: a correction.

    verl `compute_policy_loss_bypass_mode`.
    """
    weights: Array = part(old_log_probs=log_probs, rollout_log_probs=old_log_probs, mask=mask)
    return weights


def share_of_kept(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    bounds: tuple[Bound, ...],
    per_length: bool = False,
) -> Array:
    """Return 1 on the tokens that `close_to_sampler` keeps and 0 on the others. The penalty keeps all tokens.

    Args:
      old_log_probs, rollout_log_probs, mask, bounds: as in `close_to_sampler`.
      per_length: true for an average per completion that divides by the number of kept tokens.

    verl `compute_policy_loss_bypass_mode`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    kept = close_to_sampler(old_log_probs, rollout_log_probs, mask, bounds=bounds)
    weights = xp.astype(kept, old_log_probs.dtype)
    if not per_length:
        return weights
    share = masked_mean(weights, mask, axis=TOKENS, keepdims=True)
    return weights / xp.where(share > 0.0, share, 1.0)


FORMS: dict[Callable[..., Any], Callable[..., Any]] = {
    geometric_mean_per_token: geometric_mean_clipped,
    summed_over_rows: fixed_length,
    overlong_in_tokens: soft_overlong,
    groups_with_a_std: mixed_groups,
    dppo_tv_against_old: dppo_tv,
    dppo_kl_against_old: dppo_kl,
}
"""verl's own kernels, with the common kernels that they are related to."""
