"""Kernels of SkyRL: sums over advantages that were already divided, and losses against the sampler."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import (
    BATCH,
    GROUP,
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.corrections import indicator
from grpo_ref.filters import ended_completions, mixed_groups
from grpo_ref.recipes import Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import cispo, clip_cov, dppo_kl, dppo_tv, kl_cov
from grpo_ref.surrogates.divergence import probability_change
from grpo_ref.types import Term

LARGEST = 20.0
"""Limit of the absolute log-ratio before exp. Beyond it, the slope is 0."""

EPS = 1e-8
"""Added to the probability of all other tokens."""

# ---- averages ------------------------------------------------------------------------------------


def prompt_mean(mask: Array) -> Array:
    """Give every prompt the same weight: a mean over the tokens of its completions, then over prompts.

        W = m / (P Σ m),    the sum over the tokens of the group

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights that sum to 1 where every group has a token.

    SkyRL `apply_loss_reduction_to_advantages_minibatch`, "prompt_mean".
    """
    mask = as_floating(mask)
    tokens = array_namespace(mask).sum(mask, axis=(GROUP, TOKENS), keepdims=True)
    return mask / (at_least(tokens, 1.0) * mask.shape[-3])


def micro_batch_token_mean(mask: Array, *, rows: int) -> Array:
    """Take the mean over the tokens of each micro-batch, then over micro-batches.

        W = m / (n Σ m),    the sum over the tokens of the next `rows` completions, n such parts

    Tokens of a micro-batch of short completions count more. Completions that do not fill the last micro-batch
    have no weight.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      rows: micro_train_batch_size_per_gpu, >= 1.

    Returns:
      (P, G, T) weights.

    SkyRL `apply_loss_reduction_to_advantages_minibatch`, "token_mean_legacy".
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    *runs, prompts, size, length = mask.shape
    parts = prompts * size // rows
    flat = xp.reshape(mask, (*runs, prompts * size, length))
    full = xp.reshape(flat[..., : parts * rows, :], (*runs, parts, rows, length))
    tokens = at_least(xp.sum(full, axis=(-2, -1), keepdims=True), 1.0)
    weights = xp.reshape(full / (tokens * max(parts, 1)), (*runs, parts * rows, length))
    rest = xp.zeros_like(flat[..., parts * rows :, :])
    return xp.reshape(xp.concat([weights, rest], axis=-2), mask.shape)


# ---- advantages ----------------------------------------------------------------------------------


def normalized_with_padding(rewards: Array, mask: Array, *, scores: Slot) -> Array:
    """Standardize the advantages over the batch, with a mean that counts the padding as zeros.

        A' = (A - m) / √max(v, 1e-8),   m = Σ A / (P G T),   v = Σ (A - m)² / |tokens|

    If completions are shorter than the longest one, m is closer to 0 than the mean over the tokens.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens; T is the length of the longest completion.
      scores: the part that computes A.

    Returns:
      (P, G, T), 0 on padding.

    SkyRL `RayPPOTrainer._normalize_advantages` with advantage_batch_normalize.
    """
    return _normalized(scores(rewards=rewards, mask=mask), mask)


def normalized_with_padding_after_penalty(
    rewards: Array, mask: Array, old_log_probs: Array, ref_log_probs: Array, *, scores: Slot
) -> Array:
    """Compute `normalized_with_padding` for a reward that includes a penalty.

        A' = (A - m) / √max(v, 1e-8),   m = Σ A / (P G T),   v = Σ (A - m)² / |tokens|

    Args:
      rewards, mask: as in `normalized_with_padding`.
      old_log_probs, ref_log_probs: (P, G, T), for the penalty.
      scores: the part that computes A, `penalized` or `returned_with_penalty`.

    Returns:
      (P, G, T), 0 on padding.

    SkyRL `RayPPOTrainer._normalize_advantages` after `apply_reward_kl_penalty`.
    """
    fields = {"old_log_probs": old_log_probs, "ref_log_probs": ref_log_probs}
    return _normalized(scores(rewards=rewards, mask=mask, **fields), mask)


def _normalized(advantages: Array, mask: Array) -> Array:
    xp = array_namespace(advantages, mask)
    tokens = advantages if len(advantages.shape) == len(mask.shape) else advantages[..., None]
    tokens = where_mask(mask, tokens + xp.zeros_like(mask, dtype=tokens.dtype))
    apart = tokens - xp.mean(tokens, axis=BATCH, keepdims=True)
    variance = masked_mean(apart**2, mask, axis=BATCH, keepdims=True)
    return where_mask(mask, apart / xp.sqrt(at_least(variance, 1e-8)))


# ---- losses --------------------------------------------------------------------------------------


def cispo_against_sampler(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    *,
    min_ratio: float = 0.0,
    max_ratio: float = 5.0,
) -> Term:
    """Compute CISPO with the ratio to the sampler as its weight, which also corrects the sampler's mismatch.

        sₜ = sg[clip(c, min_ratio, max_ratio)] A log πθ(t),   c = πθ / πrollout

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      min_ratio, max_ratio: as in `cispo`.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    SkyRL `compute_policy_loss_cispo`, cispo_anchor="rollout".
    """
    log_ratio = _against_sampler(log_probs, rollout_log_probs)
    return cispo(log_ratio, log_probs, advantages, min_ratio=min_ratio, max_ratio=max_ratio)


def dppo_tv_against_sampler(
    log_probs: Array, rollout_log_probs: Array, advantages: Array, *, low: float = 0.2, high: float = 0.2
) -> Term:
    """Compute DPPO with the total variation from the sampler, and with its ratio instead of the log-probability.

        sₜ = c A where it is not left out,   c = πθ / πrollout
        left out:  A > 0 and πθ - πrollout > high,    A < 0 and πrollout - πθ > low

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    SkyRL `dppo_policy_loss`, "binary_tv".
    """
    moved = probability_change(log_probs - rollout_log_probs, log_probs)
    left_out = ((advantages > 0.0) & (moved > high)) | ((advantages < 0.0) & (-moved > low))
    return _divergence_masked(log_probs, rollout_log_probs, advantages, left_out)


def dppo_kl_against_sampler(
    log_probs: Array, rollout_log_probs: Array, advantages: Array, *, low: float = 0.2, high: float = 0.2
) -> Term:
    """Compute `dppo_tv_against_sampler` with the KL of token against not-token, from the sampler to the policy.

        sₜ = c A where it is not left out,   c = πθ / πrollout
        left out:  A > 0, πθ > πrollout and D > high,    A < 0, πθ < πrollout and D > low

    Args:
      log_probs, rollout_log_probs, advantages: as in `dppo_tv_against_sampler`.
      low, high: thresholds in nats.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    SkyRL `dppo_policy_loss`, "binary_kl".
    """
    moved = probability_change(log_probs - rollout_log_probs, log_probs)
    far = _binary_kl(log_probs, rollout_log_probs)
    too_high = (advantages > 0.0) & (moved > 0.0) & (far > high)
    too_low = (advantages < 0.0) & (moved < 0.0) & (far > low)
    return _divergence_masked(log_probs, rollout_log_probs, advantages, too_high | too_low)


def _binary_kl(log_probs: Array, rollout_log_probs: Array) -> Array:
    """Return D, or -∞ (outside every range) if a probability above 1 makes it NaN."""
    xp = array_namespace(log_probs, rollout_log_probs)
    p, q = xp.exp(log_probs), xp.exp(rollout_log_probs)
    rest = (1.0 - q + EPS) / (1.0 - p + EPS)
    exists = rest > 0.0
    far = q * (rollout_log_probs - log_probs) + (1.0 - q) * xp.log(xp.where(exists, rest, 1.0))
    return xp.where(exists, far, -xp.inf)


def _divergence_masked(
    log_probs: Array, rollout_log_probs: Array, advantages: Array, left_out: Array
) -> Term:
    xp = array_namespace(log_probs, rollout_log_probs, advantages)
    gain = xp.where(left_out, 0.0, xp.exp(_against_sampler(log_probs, rollout_log_probs)) * advantages)
    inside = abs(log_probs - rollout_log_probs) <= LARGEST
    return Term(value=gain, direct=xp.where(inside, gain, 0.0))


def _against_sampler(log_probs: Array, rollout_log_probs: Array) -> Array:
    return array_namespace(log_probs).clip(log_probs - rollout_log_probs, -LARGEST, LARGEST)


def clip_cov_of_scaled(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    noise: Array,
    max_length: int,
    *,
    aggregate: Slot,
    rows: int = 1,
    share: float = 0.0002,
    cov_low: float = 1.0,
    cov_high: float = 5.0,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Term:
    """Compute Clip-Cov with the covariance of advantages that the average has already divided.

        clip_cov of each micro-batch, with W A in place of A for the covariance

    The covariance is therefore that of A divided by the number of tokens. With hundreds of tokens, no
    covariance reaches 1, so only the clip remains.

    Args:
      log_ratio, log_probs, advantages, mask, noise: as in `clip_cov`.
      max_length: for an average that divides by it.
      aggregate: the average, mask -> W.
      rows: micro_train_batch_size_per_gpu, the completions of a micro-batch.
      share, cov_low, cov_high, clip_low, clip_high: as in `clip_cov`.

    Returns:
      Term of two (P, G, T) arrays, as `clip_cov`.

    SkyRL `compute_policy_loss_clip_cov`.
    """
    settings = {"share": share, "cov_low": cov_low, "cov_high": cov_high}
    part = slot(clip_cov, **settings, clip_low=clip_low, clip_high=clip_high)
    fields = {"log_ratio": log_ratio, "log_probs": log_probs, "mask": mask, "noise": noise}
    return _by_micro_batch(part, rows, aggregate(mask=mask, max_length=max_length), advantages, fields)


def kl_cov_of_scaled(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    max_length: int,
    *,
    aggregate: Slot,
    rows: int = 1,
    share: float = 0.2,
    coef: float = 1.0,
) -> Term:
    """Compute KL-Cov with a penalty that is summed, while everything else is averaged.

        sₜ = rₜ A - coef/W |log rₜ| [t chosen],    chosen: the highest cov of W A in its micro-batch

    With token_mean, the penalty is multiplied by the number of tokens of the mini-batch. Each micro-batch has
    at least one chosen token, for any share.

    Args:
      log_ratio, log_probs, advantages, mask: as in `kl_cov`.
      max_length, aggregate, rows: as in `clip_cov_of_scaled`.
      share, coef: as in `kl_cov`.

    Returns:
      Term of two (P, G, T) arrays, as `kl_cov`.

    SkyRL `compute_policy_loss_kl_cov`.
    """
    part = slot(kl_cov, share=share, coef=coef)
    fields = {"log_ratio": log_ratio, "log_probs": log_probs, "mask": mask}
    return _by_micro_batch(part, rows, aggregate(mask=mask, max_length=max_length), advantages, fields)


def _by_micro_batch(
    part: Slot, rows: int, weights: Array, advantages: Array, fields: dict[str, Array]
) -> Term:
    """Apply a surrogate to each micro-batch with W A instead of A, and divide by W afterwards."""
    xp = array_namespace(weights)
    fields = fields | {"advantages": advantages * weights}
    terms = [
        part(SimpleNamespace(**{name: _flat(array)[..., place, :] for name, array in fields.items()}))
        for place in _places(weights, rows)
    ]
    inverse = xp.where(weights > 0.0, 1.0 / xp.where(weights > 0.0, weights, 1.0), 0.0)
    value, slope = (
        xp.reshape(xp.concat([getattr(term, name) for term in terms], axis=-2), weights.shape)
        for name in ("value", "slope")
    )
    return Term(value=value * inverse, slope=slope * inverse)


def _flat(array: Array) -> Array:
    """Join all completions into one row, (..., 1, P G, T)."""
    *runs, prompts, size, length = array.shape
    return array_namespace(array).reshape(array, (*runs, 1, prompts * size, length))


def _places(array: Array, rows: int) -> list[slice]:
    """Return the slices of the micro-batches. The last one may be smaller."""
    size = array.shape[-3] * array.shape[-2]
    return [slice(start, min(start + rows, size)) for start in range(0, size, rows)]


# ---- corrections and filters ---------------------------------------------------------------------


def of_what_is_left(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    part: Slot,
    min_ratio: float,
    max_ratio: float,
) -> Array:
    """Apply a correction per completion to only the tokens inside a window.

        w = part(mask [min_ratio <= c <= max_ratio]),   c = πold / πrollout

    Args:
      old_log_probs, rollout_log_probs, mask: as in `indicator`.
      part: the correction.
      min_ratio, max_ratio: token_mask_is_threshold_low and _high.

    Returns:
      (P, G, T) weights.

    SkyRL `compute_off_policy_correction`.
    """
    inside = indicator(
        old_log_probs,
        rollout_log_probs,
        mask,
        min_ratio=min_ratio,
        max_ratio=max_ratio,
        max_log_ratio=LARGEST,
    )
    left = as_floating(mask) * inside
    weights = part(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=left)
    xp = array_namespace(weights)
    return xp.where(is_set(left), weights, 0.0)


def groups_with_a_std(rewards: Array) -> Array:
    """Keep the groups whose standard deviation is above 0 as NumPy computes it, and all groups of one.

        keep = std(r) > 0

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True for groups that take part.

    SkyRL `handle_filter_sampling`.
    """
    xp = array_namespace(rewards)
    kept: Array = xp.std(rewards, axis=MEMBERS) > 0.0
    return kept | (rewards.shape[MEMBERS] == 1)


def contrasted(rewards: Array, lengths: Array, *, tol: float = 1e-6) -> Array:
    """Keep the completions of groups whose rewards differ by more than a tolerance, and all groups of one.

        max(r) - min(r) > tol    over those of the group that have tokens

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion.
      tol: zero_variance_filter_tol.

    Returns:
      (P, G), equal for all completions of a group.

    SkyRL `zero_variance_filter`, which masks out the others.
    """
    return _contrasted(rewards, lengths > 0, tol)


def contrasted_groups(rewards: Array, lengths: Array, *, tol: float = 1e-6) -> Array:
    """Keep the groups whose rewards differ by more than a tolerance, and groups of one.

    The others are resampled.

        keep = max(r) - min(r) > tol    over those of the group that have tokens

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion.
      tol: zero_variance_filter_tol.

    Returns:
      (P,) True for groups that take part.

    SkyRL `FullyAsyncRayPPOTrainer` with sample_full_batch.
    """
    return contrasted(rewards, lengths, tol=tol)[..., 0]


def ended_and_contrasted(rewards: Array, lengths: Array, ended: Array, *, tol: float = 1e-6) -> Array:
    """Apply `contrasted` to the completions that ended by themselves. Truncated ones are masked out as well.

        ended, and max(r) - min(r) > tol over those of the group that ended

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion.
      ended: (P, G) True where the completion ended by itself.
      tol: zero_variance_filter_tol.

    Returns:
      (P, G) True where the completion counts.

    SkyRL `zero_variance_filter` after `apply_overlong_filtering`.
    """
    return is_set(ended) & _contrasted(rewards, is_set(ended) & (lengths > 0), tol)


def _contrasted(rewards: Array, live: Array, tol: float) -> Array:
    xp = array_namespace(rewards)
    largest = xp.max(xp.where(live, rewards, -xp.inf), axis=MEMBERS, keepdims=True)
    smallest = xp.min(xp.where(live, rewards, xp.inf), axis=MEMBERS, keepdims=True)
    alone = xp.sum(xp.astype(live, rewards.dtype), axis=MEMBERS, keepdims=True) <= 1.0
    kept = alone | (xp.where(alone, 0.0, largest) - xp.where(alone, 0.0, smallest) > tol)
    return kept & xp.ones_like(rewards, dtype=xp.bool)


def zero_if_cut_off(rewards: Array, ended: Array) -> Array:
    """Set the rewards of truncated completions to 0.

        r where the completion ended, 0 elsewhere

    Args:
      rewards: (P, G).
      ended: (P, G) True where the completion ended by itself.

    Returns:
      (P, G) rewards.

    SkyRL `zero_reward_on_non_stop`.
    """
    return array_namespace(rewards, ended).where(is_set(ended), rewards, 0.0)


def overlong_in_tokens(
    rewards: Array, lengths: Array, *, buffer: int = 512, budget: int = 1024, factor: float = 1.0
) -> Array:
    """Subtract DAPO's penalty for the end of the budget. Completions beyond the budget get 0.

        r - factor (|o| - (budget - buffer)) / buffer    where budget - buffer < |o| <= budget,    0 beyond

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion.
      buffer: overlong_buffer_len, in tokens.
      budget: generator.sampling_params.max_generate_length.
      factor: overlong_buffer_penalty_factor.

    Returns:
      (P, G) shaped rewards.

    SkyRL `examples/train/algorithms/dapo/main_dapo.py`.
    """
    xp = array_namespace(rewards, lengths)
    over = at_least(lengths - float(budget - buffer), 0.0)
    return xp.where(lengths > budget, 0.0, rewards - factor * over / buffer)


FORMS: dict[Callable[..., Any], Callable[..., Any]] = {
    prompt_mean: token_mean,
    micro_batch_token_mean: token_mean,
    cispo_against_sampler: cispo,
    dppo_tv_against_sampler: dppo_tv,
    dppo_kl_against_sampler: dppo_kl,
    clip_cov_of_scaled: clip_cov,
    kl_cov_of_scaled: kl_cov,
    groups_with_a_std: mixed_groups,
    contrasted_groups: mixed_groups,
    ended_and_contrasted: ended_completions,
    zero_if_cut_off: task_reward,
    overlong_in_tokens: soft_overlong,
}
"""SkyRL's own kernels, with the common kernels that they are related to."""

# ---- calls ---------------------------------------------------------------------------------------
