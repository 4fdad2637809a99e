"""Covariance: tokens with a large covariance of advantage and log-probability reduce the entropy most."""

from grpo_ref.arrays import BATCH, Array, array_namespace, at_least, is_set, masked_mean
from grpo_ref.surrogates.clip import clipped
from grpo_ref.surrogates.plain import importance_weighted
from grpo_ref.types import Term


def kl_cov(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    share: float = 0.0002,
    coef: float = 0.1,
) -> Term:
    """The unclipped surrogate, with a penalty on the log-ratio of the few tokens that reduce entropy most.

        sₜ = rₜ A - coef |log rₜ| [t chosen],    chosen: the highest cov = (A - Ā)(log πθ - mean log πθ)

    The choice is treated as constant in the gradient. At log rₜ = 0 the slope of the penalty is 0.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens; only these enter the means and the choice.
      share: the share of tokens chosen, at least one token; verl's kl_cov_ratio.
      coef: weight of the penalty; verl's ppo_kl_coef.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Cui et al. 2025, KL-Cov (arXiv:2505.22617); verl `compute_policy_loss_kl_cov`.
    """
    xp = array_namespace(log_ratio, log_probs, advantages, mask)
    plain = importance_weighted(log_ratio, advantages)
    covariance = _centered(advantages + xp.zeros_like(log_probs), mask) * _centered(log_probs, mask)
    chosen = _largest(xp.where(is_set(mask), covariance, -xp.inf), mask, share)
    coefs = coef * xp.astype(chosen, log_ratio.dtype)  # coef for a chosen token, else 0
    return Term(value=plain.value - coefs * abs(log_ratio), slope=plain.slope - coefs * xp.sign(log_ratio))


def clip_cov(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    noise: Array,
    *,
    share: float = 0.0002,
    cov_low: float = 1.0,
    cov_high: float = 5.0,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Term:
    """The clipped surrogate. In addition, a few random tokens with a large covariance get no gradient.

        sₜ = clipped(rₜ, A) [t not chosen],    chosen from: cov_low < (A - Ā)(log πθ - mean log πθ) < cov_high

    Tokens that are already clipped are not chosen. The choice is treated as constant in the gradient.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens; only these enter the means and the choice.
      noise: (P, G, T) random numbers: among the eligible tokens, those with the smallest are chosen.
      share: the share of all tokens that is chosen, at least one token if there is any; verl's
        clip_cov_ratio.
      cov_low, cov_high: bounds of the covariance, both excluded; verl's clip_cov_lb and clip_cov_ub.
      clip_low, clip_high: as in `clipped`.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Cui et al. 2025, Clip-Cov (arXiv:2505.22617); verl `compute_policy_loss_clip_cov`.
    """
    xp = array_namespace(log_ratio, log_probs, advantages, mask, noise)
    ppo_term = clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    eligible = clip_cov_eligible(
        log_ratio,
        log_probs,
        advantages,
        mask,
        cov_low=cov_low,
        cov_high=cov_high,
        clip_low=clip_low,
        clip_high=clip_high,
    )
    chosen = _largest(xp.where(eligible, -noise, -xp.inf), mask, share) & eligible
    return Term(xp.where(chosen, 0.0, ppo_term.value), slope=xp.where(chosen, 0.0, ppo_term.slope))


def clip_cov_eligible(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    cov_low: float = 1.0,
    cov_high: float = 5.0,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Array:
    """Mask of the eligible tokens, from which `clip_cov` chooses at random.

    Args:
      log_ratio, log_probs, advantages, mask, cov_low, cov_high, clip_low, clip_high: as in `clip_cov`.

    Returns:
      (P, G, T) True where the covariance is within the bounds and the token is not already clipped.
    """
    xp = array_namespace(log_ratio, log_probs, advantages, mask)
    ratio = xp.exp(log_ratio)
    covariance = _centered(advantages + xp.zeros_like(log_probs), mask) * _centered(log_probs, mask)
    too_high = (advantages > 0.0) & (ratio > 1.0 + clip_high)
    too_low = (advantages < 0.0) & (ratio < 1.0 - clip_low)
    return is_set(mask) & (covariance > cov_low) & (covariance < cov_high) & ~too_high & ~too_low


def _centered(array: Array, mask: Array) -> Array:
    return array - masked_mean(array, mask, axis=BATCH, keepdims=True)


def _largest(scores: Array, mask: Array, share: float) -> Array:
    """Mask of the tokens with the highest scores in each run: int(share * tokens) of them, at least one."""
    xp = array_namespace(scores, mask)
    flat = xp.reshape(scores, (*scores.shape[:-3], -1))
    rank = xp.reshape(xp.argsort(xp.argsort(-flat, axis=-1, stable=True), axis=-1), scores.shape)
    tokens = xp.sum(xp.astype(is_set(mask), scores.dtype), axis=BATCH, keepdims=True)
    return (xp.astype(rank, scores.dtype) < at_least(xp.floor(tokens * share), 1.0)) & (is_set(mask))
