"""Kernels of Open Instruct: numbered KL estimators, a correction for the sampler, and packs."""

from collections.abc import Callable
from math import inf

from grpo_ref.arrays import MEMBERS, TOKENS, Array, array_namespace, masked_mean, where_mask
from grpo_ref.corrections import indicator, truncated
from grpo_ref.levels import token_level
from grpo_ref.penalties import k1, k2, k3, weighted_k1
from grpo_ref.recipes import Slot, slot

KL_ESTIMATORS: dict[int, Slot] = {
    0: slot(k1, max_log_ratio=40.0),
    1: slot(k2, max_log_ratio=40.0),
    2: slot(k3, max_log_ratio=40.0),
    3: slot(weighted_k1, max_log_ratio=40.0),
}
"""Estimators by the number in `kl_estimator`.

The default is 2; estimator 3 also reads the importance ratio.
"""
INVALID_LOG_PROB = 1.0
"""Replacement for a log-probability that the sampler reported as NaN: above 0, as no token's can be."""
MAX_LOG_RHO = 10.0
"""Limit of each token's |log ρ|."""


def groups_with_std(rewards: Array) -> Array:
    """Keep the groups whose rewards have a standard deviation other than 0.

        keep = std(r) ≠ 0

    Rounding can keep groups of equal rewards: three rewards of 0.1 have a mean that is not exactly 0.1, and a
    std of 1e-17. The tokens of such a group count in the denominator.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True for groups that are kept.

    Open Instruct `process_group`.

    >>> import numpy as np
    >>> groups_with_std(np.array([[1.0, 1.0, 1.0], [0.1, 0.1, 0.1]]))
    array([False,  True])
    """
    return array_namespace(rewards).std(rewards, axis=MEMBERS) != 0.0


# ---- the correction for the sampler ------------------------------------------------------------------


def known(rollout_log_probs: Array) -> Array:
    """Return the sampler's log-probabilities, with 1.0 instead of NaN and the lowest finite number instead of -∞.

    Args:
      rollout_log_probs: (P, G, T) in nats.

    Open Instruct `mask_logprobs`, by way of `torch.nan_to_num`.
    """
    xp = array_namespace(rollout_log_probs)
    most = xp.finfo(rollout_log_probs.dtype).max
    finite = xp.clip(rollout_log_probs, -most, most)
    return xp.where(xp.isnan(rollout_log_probs), INVALID_LOG_PROB, finite)


def rho_clamp(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = 2.0,
) -> Array:
    """Truncate importance weights; a token whose probability the sampler did not report gets the weight πold / e.

        w = clip(ρ, min_ratio, max_ratio),   ρ = exp(level(clip(log πold - log πrollout, ±10)))

    Where the sampler reported NaN, log πrollout is set to 1, so ρ is below 1/e there and never 1.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; the second may hold NaN.
      mask: (P, G, T) 1 on completion tokens.
      level: `token_level`, or `sequence_mean_level` with `rho_mask_sequence_level`.
      min_ratio, max_ratio: 0 <= min_ratio <= max_ratio.

    Returns:
      (P, G, T) weights.

    Open Instruct `compute_rho_correction`, `mask_logprobs`.
    """
    return truncated(
        old_log_probs,
        known(rollout_log_probs),
        mask,
        level=level,
        min_ratio=min_ratio,
        max_ratio=max_ratio,
        max_token_log_ratio=MAX_LOG_RHO,
    )


def rho_window(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = inf,
) -> Array:
    """Return 1 where ρ is inside the window and 0 elsewhere.

    A token that the sampler did not report has a low ρ.

        w = [min_ratio <= ρ <= max_ratio],   ρ = exp(level(clip(log πold - log πrollout, ±10)))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio: as in `rho_clamp`.

    Returns:
      (P, G, T) of 0 and 1.

    Open Instruct `compute_rho_correction`, `mask_logprobs`.
    """
    bounds = {"min_ratio": min_ratio, "max_ratio": max_ratio, "max_token_log_ratio": MAX_LOG_RHO}
    return indicator(old_log_probs, known(rollout_log_probs), mask, level=level, **bounds)


def vaco_mask(
    old_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    min_divergence: float = 0.0,
    max_divergence: float = inf,
) -> Array:
    """Exclude tokens that would move a completion, already far from the sampler, even further away (VACO).

        w = 0 where D is outside [min_divergence, max_divergence] and A log ρ > 0,    else 1
        D = mean over the completion of |ρ - 1|,   log ρ = clip(log πold - log πrollout, ±10)

    Only Open Instruct has a lower bound: it excludes tokens of completions that are close to the sampler.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; the second may hold NaN, see `rho_clamp`.
      advantages: (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      min_divergence, max_divergence: bounds of D.

    Returns:
      (P, G, T) of 0 and 1.

    VACO (arXiv:2603.01365), as in Open Instruct's `rho_mask_tv_divergence`.
    """
    arrays = old_log_probs, rollout_log_probs, mask
    distance = divergence(*arrays)
    outside = (distance < min_divergence) | (distance > max_divergence)
    dropped = outside & moves_away(*arrays, advantages)
    return array_namespace(old_log_probs).where(dropped, 0.0, array_namespace(mask).ones_like(old_log_probs))


def divergence(old_log_probs: Array, rollout_log_probs: Array, mask: Array) -> Array:
    """Return the mean of |ρ - 1| over the tokens of each completion, (P, G, 1); 0 without tokens."""
    rho = rho_clamp(old_log_probs, rollout_log_probs, mask, max_ratio=inf)
    return masked_mean(abs(rho - 1.0), mask, axis=TOKENS, keepdims=True)


def moves_away(old_log_probs: Array, rollout_log_probs: Array, mask: Array, advantages: Array) -> Array:
    """Return true where the advantage moves a token's probability further from the sampler's, (P, G, T)."""
    log_rho = where_mask(mask, old_log_probs - known(rollout_log_probs))
    return array_namespace(log_rho).sign(log_rho) * advantages > 0.0


# ---- what only Open Instruct's recorded cases hold ---------------------------------------------------
