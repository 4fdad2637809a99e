"""The clip family: a token pushed far enough in the direction of its advantage has zero gradient.

A token is clipped if A > 0 and its ratio is above the upper bound, or A < 0 and its ratio is below the lower
bound. The code tests these conditions. It does not compare the two branches of the min, because in mixed
precision rounding could decide that comparison.
"""

from grpo_ref.arrays import TOKENS, Array, array_namespace, masked_mean
from grpo_ref.types import Term


def clipped(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """PPO's pessimistic surrogate; a wider clip_high is DAPO's clip-higher.

        sₜ = min(rₜ A, clip(rₜ, 1 - clip_low, 1 + clip_high) A),   rₜ = exp(log_ratio)

    A clipped token still counts in the value, but its slope is 0. A token exactly on a bound is not clipped.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: trust-region half-widths, 0 <= clip_low < 1, clip_high >= 0. 0.2 and 0.2 are PPO's
        and TRL's; DAPO uses 0.2 and 0.28, Open Instruct 0.2 and 0.272.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a half-width is out of range.

    Schulman et al. 2017, eq. 7 (arXiv:1707.06347); the asymmetric range is Yu et al. 2025, DAPO, eq. 10
    (arXiv:2503.14476).

    >>> import numpy as np
    >>> clipped(np.log(np.array([1.5, 1.5])), np.array([1.0, -1.0]))
    Term(value=array([ 1.2, -1.5]), slope=array([ 0. , -1.5]), direct=0.0)
    """
    if not 0.0 <= clip_low < 1.0 or not clip_high >= 0.0:
        raise ValueError(f"expected 0 <= clip_low < 1 and clip_high >= 0, got {clip_low} and {clip_high}")
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    too_high = (advantages > 0.0) & (ratio > 1.0 + clip_high)
    too_low = (advantages < 0.0) & (ratio < 1.0 - clip_low)
    gain = ratio * advantages
    bound = xp.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantages
    is_clipped = too_high | too_low
    return Term(value=xp.where(is_clipped, bound, gain), slope=xp.where(is_clipped, 0.0, gain))


def dual_clipped(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    max_ratio: float = 3.0,
) -> Term:
    """The clipped surrogate with a cap on the ratio of tokens with A < 0, which PPO leaves unbounded.

        sₜ = max(clipped(rₜ, A), max_ratio A)  where A < 0,    clipped(rₜ, A) elsewhere

    Without the cap, a token with A < 0 and a very large ratio could dominate the batch. Beyond max_ratio the
    slope is 0. If A = 0 and the ratio is beyond max_ratio, the value is set to 0, because the ratio may
    overflow and inf * 0 would be NaN.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: as in `clipped`.
      max_ratio: > 1; the cap of the ratio for tokens with A < 0. In verl it is clip_ratio_c, 3.0 and always
        on; in TRL it is `delta`.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a half-width is out of range or max_ratio <= 1.

    Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.
    """
    if not max_ratio > 1.0:
        raise ValueError(f"max_ratio: expected a number > 1, got {max_ratio}")
    xp = array_namespace(log_ratio, advantages)
    ppo_term = clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    beyond_cap = (advantages <= 0.0) & (xp.exp(log_ratio) > max_ratio)
    return Term(
        value=xp.where(beyond_cap, max_ratio * advantages, ppo_term.value),
        slope=xp.where(beyond_cap, 0.0, ppo_term.slope),
    )


def two_sided_clipped(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    max_ratio: float = 4.0,
) -> Term:
    """The clipped surrogate with a cap on the unclipped branch too: INTELLECT-2's two-sided clip.

        sₜ = min(min(rₜ, δ) A, clip(rₜ, 1 - clip_low, 1 + clip_high) A),   δ = max_ratio

    If δ >= 1 + clip_high, this is `dual_clipped` with max_ratio = δ. If δ < 1 + clip_high, tokens with A > 0
    are clipped at δ, and tokens with A < 0 at 1 + clip_high.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: as in `clipped`.
      max_ratio: δ > 1; TRL's `delta`, for which its documentation has 4 as an example.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    Raises:
      ValueError: if a half-width is out of range or max_ratio <= 1.

    Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291); TRL `delta`.
    """
    if not max_ratio > 1.0:
        raise ValueError(f"max_ratio: expected a number > 1, got {max_ratio}")
    width_high, cap = min(clip_high, max_ratio - 1.0), max(1.0 + clip_high, max_ratio)
    return dual_clipped(log_ratio, advantages, clip_low=clip_low, clip_high=width_high, max_ratio=cap)


def geometric_mean_clipped(
    log_ratio: Array, advantages: Array, mask: Array, *, clip_low: float = 0.4, clip_high: float = 0.4
) -> Term:
    """Each token's ratio is clipped in log space: GMPO.

    The geometric mean of the clipped ratios is the ratio of the completion.

        s = A exp(1/|o| Σₜ zₜ),   zₜ = min(log rₜ, clip_high) where A > 0,  max(log rₜ, -clip_low) where A < 0

    All tokens of a completion have the same value s. Because each log-ratio is clipped in the direction of
    the advantage, no single token can dominate the mean.

    All |o| tokens have the value s, and the log-ratio of one token changes each of them by s/|o|. So the
    slope of a token is the sum of these, s. This holds only if all tokens of a completion have the same
    weight, as with `sequence_mean_token_mean`.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      advantages: broadcastable to (P, G, T), one per completion; constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.
      clip_low, clip_high: half-widths in log space, >= 0; 0.4 and 0.4 in TRL and the paper.

    Returns:
      Term of two (P, G, T) arrays: s, and the slope, which is s where the token is not clipped, else 0.

    Raises:
      ValueError: if a half-width is negative.

    Zhao et al. 2025, GMPO (arXiv:2507.20673); TRL `experimental.gmpo`; verl `compute_policy_loss_geo_mean`.
    """
    if not clip_low >= 0.0 or not clip_high >= 0.0:
        raise ValueError(f"expected clip_low, clip_high >= 0, got {clip_low} and {clip_high}")
    xp = array_namespace(log_ratio, advantages, mask)
    too_high = (advantages > 0.0) & (log_ratio > clip_high)
    too_low = (advantages < 0.0) & (log_ratio < -clip_low)
    is_clipped = too_high | too_low
    clamped_log_ratio = xp.where(is_clipped, xp.clip(log_ratio, -clip_low, clip_high), log_ratio)
    mean = masked_mean(clamped_log_ratio, mask, axis=TOKENS, keepdims=True)
    value = xp.exp(mean) * advantages + xp.zeros_like(log_ratio)
    return Term(value=value, slope=xp.where(is_clipped, 0.0, value))
