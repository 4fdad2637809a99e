"""Detached weights: no gradient flows through the ratio, only through each token's own log-probability."""

import math

from grpo_ref.arrays import TOKENS, Array, array_namespace, is_set
from grpo_ref.surrogates.clip import clipped
from grpo_ref.types import Term

MIN_LOG_WEIGHT, MAX_LOG_WEIGHT = math.log(1e-8), 20.0
"""TRL's limits of VESPO's log-weight, and of the logarithm of each token's correction, in nats."""
MIN_CORRECTION, MAX_CORRECTION = 1e-8, math.exp(MAX_LOG_WEIGHT)


def cispo(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    min_ratio: float = 0.0,
    max_ratio: float = 5.0,
) -> Term:
    """REINFORCE weighted by a clipped, constant ratio, so that a clipped token keeps its gradient.

        sₜ = sg[clip(rₜ, min_ratio, max_ratio)] A log πθ(t),   rₜ = exp(log_ratio)

    Only the derivative has a meaning; the value contains log πθ. The bounds in three trainers:

    | trainer       | min_ratio                 | max_ratio                                          |
    |---------------|---------------------------|----------------------------------------------------|
    | TRL           | 0                         | epsilon_high itself (its docs: 5; unset it is 0.2) |
    | Open Instruct | 0                         | 1 + clip_higher = 1.272                            |
    | verl          | 1 - clip_ratio_low = 0.8  | 1 + clip_ratio_high = 1.2                          |

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      min_ratio, max_ratio: bounds of the weight, 0 <= min_ratio <= max_ratio; 5 is ScaleRL's cap.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if the bounds are out of range.

    MiniMax 2025, CISPO in MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`, Open Instruct
    `loss_fn="cispo"`, verl `compute_policy_loss_cispo`.

    >>> import numpy as np
    >>> cispo(np.log(np.array([9.0])), np.log(np.array([0.5])), np.array([1.0])).direct
    array([5.])
    """
    if not 0.0 <= min_ratio <= max_ratio:
        raise ValueError(f"expected 0 <= min_ratio <= max_ratio, got {min_ratio} and {max_ratio}")
    xp = array_namespace(log_ratio, log_probs, advantages)
    weight = xp.clip(xp.exp(log_ratio), min_ratio, max_ratio) * advantages
    return Term(value=weight * log_probs, direct=weight)


def rollout_is(
    log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> Term:
    """REINFORCE weighted by the constant ratio to the sampler, 0 outside bounds: the agentic loss of GLM-5.

        sₜ = sg[ρₜ [1 - clip_low < ρₜ < 1 + clip_high]] A log πθ(t),   ρₜ = πθ / πrollout

    There are no old log-probabilities: one ratio covers the sampler's mismatch and the steps of the update.
    Unlike a clip, the bounds drop good and bad tokens on both sides.

    Args:
      log_probs, rollout_log_probs: (P, G, T) in nats; a token for which the sampler reported NaN is dropped.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high: half-widths of the range, >= 0; both bounds are excluded. SkyRL's eps_clip_low and
        eps_clip_high, 0.2 there.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a half-width is negative.

    GLM-5 team 2026, GLM-5, sec. 4.1.2 (arXiv:2602.15763); SkyRL `rollout_is_policy_loss`.

    >>> import numpy as np
    >>> sampler = np.log(np.array([0.5, 0.5]))
    >>> rollout_is(sampler + np.log([1.1, 1.3]), sampler, np.array([1.0, 1.0])).direct.round(3)
    array([1.1, 0. ])
    """
    if not (clip_low >= 0.0 and clip_high >= 0.0):
        raise ValueError(f"expected clip_low and clip_high >= 0, got {clip_low} and {clip_high}")
    xp = array_namespace(log_probs, rollout_log_probs, advantages)
    ratio = xp.exp(log_probs - rollout_log_probs)
    is_inside = (ratio > 1.0 - clip_low) & (ratio < 1.0 + clip_high)
    weight = xp.where(is_inside, ratio, 0.0) * advantages
    return Term(value=weight * log_probs, direct=weight)


def topr(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    positive_weight: float = 1.0,
    negative_weight: float = 1.0,
) -> Term:
    """REINFORCE in which only bad completions are weighted by a constant ratio, at most 1: TOPR.

        sₜ = sg[w] A log πθ(t),   w = 1 where A > 0,  min(r, 1) elsewhere,   r = exp(log_ratio)

    A good completion is learned as in supervised training, however old it is. A bad completion that the
    policy has already left has r near 0 and pushes no further. A clip would stop it at once.

    | source      | ratio r                                         | decides good or bad          |
    |-------------|-------------------------------------------------|------------------------------|
    | paper       | of the whole completion, `sequence_sum_level`   | the reward, which is A       |
    | verl #6986  | geometric mean, `sequence_mean_level`           | the advantage                |
    | Trinity-RFT | of the token, `token_level`                     | the advantage                |
    | ROLL        | of the token, `token_level`                     | the score before a baseline  |

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ. The paper has rewards of 1 and -1,
        less a constant baseline.
      positive_weight, negative_weight: factors of w; ROLL's topr_positive_weight and topr_negative_weight, 1
        there.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Le Roux et al. 2025, Tapered off-policy REINFORCE, eq. 8 (arXiv:2503.14286); ROLL `_compute_topr_loss`,
    verl #6986, Trinity-RFT `TOPRPolicyLossFn`.

    >>> import numpy as np
    >>> ratios, log_probs = np.log([2.0, 2.0, 0.25]), np.log([0.5, 0.5, 0.5])
    >>> topr(ratios, log_probs, np.array([1.0, -1.0, -1.0])).direct
    array([ 1.  , -1.  , -0.25])
    """
    xp = array_namespace(log_ratio, log_probs, advantages)
    tapered = negative_weight * xp.exp(xp.clip(log_ratio, None, 0.0))
    weight = xp.where(advantages > 0.0, positive_weight, tapered) * advantages
    return Term(value=weight * log_probs, direct=weight)


def gspo_token(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 3e-4,
    clip_high: float = 4e-4,
    max_log_ratio: float = math.inf,
) -> Term:
    """GSPO with a separate gradient for each token, so that advantages may differ within a completion.

        sₜ = min(s A, clip(s, 1 - clip_low, 1 + clip_high) A),   s = sg[sequence ratio] πθ(t) / sg[πθ(t)]

    The value is the clipped surrogate of the sequence ratio. The derivative is with respect to the token's
    own log-probability: s A if the token is not clipped, else 0. With one advantage per completion and GRPO's
    weights, this is GSPO.

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T), one per completion or per token; constant with respect to θ.
      clip_low, clip_high: as in `clipped`; 3e-4 and 4e-4 are the paper's, for a ratio that is a mean.
      max_log_ratio: the log-ratio is limited to this, in nats, and the derivative is 0 beyond it; 10 in verl.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a half-width is out of range.

    Zheng et al. 2025, GSPO (arXiv:2507.18071); verl `compute_policy_loss_gspo`, which is this form.
    """
    xp = array_namespace(log_ratio, advantages)
    is_unlimited = math.isinf(max_log_ratio)
    clamped_log_ratio = log_ratio if is_unlimited else xp.clip(log_ratio, None, max_log_ratio)
    term = clipped(clamped_log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    return Term(value=term.value, direct=xp.where(log_ratio <= max_log_ratio, term.slope, 0.0))


def vespo(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    correction: Array,
    mask: Array,
    *,
    k_positive: float = 2.0,
    lambda_positive: float = 3.0,
    k_negative: float = 3.0,
    lambda_negative: float = 2.0,
) -> Term:
    """REINFORCE weighted by a smooth function of the sequence ratio, which falls to 0 on both sides.

        sₜ = sg[φ(w)] A log πθ(t),   φ(w) = wᵏ e^{λ (1 - w)},   w = πθ(o) / πold(o) Πₜ cₜ

    φ(1) = 1, and φ is largest at w = k/λ. wᵏ reduces the weight of completions that have become less likely,
    and the exponential that of completions that have become much more likely. k and λ depend on the sign of
    A.

    Args:
      log_ratio: (P, G, T) after `sequence_sum_level`, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      correction: (P, G, T) c, the product of the recipe's corrections, here a part of w. The logarithm of
        each token's c has the same limits as log w, so that a single token with c = 0 does not decide w.
      mask: (P, G, T) 1 on completion tokens.
      k_positive, lambda_positive: k and λ where A >= 0; 2 and 3 in TRL.
      k_negative, lambda_negative: k and λ where A < 0; 3 and 2 in TRL.

    Returns:
      Term of (P, G, T) arrays; the derivative is in `direct`.

    Raises:
      ValueError: if a parameter is not positive.

    VESPO (arXiv:2602.10693); TRL `loss_type="vespo"`.
    """
    settings = (k_positive, lambda_positive, k_negative, lambda_negative)
    if not all(setting > 0.0 for setting in settings):
        raise ValueError(
            f"expected k_positive, lambda_positive, k_negative, lambda_negative > 0, got {settings}"
        )
    xp = array_namespace(log_ratio, log_probs, advantages)
    is_positive = advantages + xp.zeros_like(log_ratio) >= 0.0
    k = xp.where(is_positive, xp.full_like(log_ratio, k_positive), k_negative)
    rate = xp.where(is_positive, xp.full_like(log_ratio, lambda_positive), lambda_negative)
    limited = xp.clip(xp.where(is_set(mask), correction, 1.0), MIN_CORRECTION, MAX_CORRECTION)
    log_weight = log_ratio + xp.sum(xp.log(limited), axis=TOKENS, keepdims=True)
    log_weight = xp.clip(log_weight, MIN_LOG_WEIGHT, MAX_LOG_WEIGHT)
    weight = xp.exp(k * log_weight + rate * (1.0 - xp.exp(log_weight))) * advantages
    return Term(value=weight * log_probs, direct=weight)
