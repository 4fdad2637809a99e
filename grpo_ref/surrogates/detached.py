"""Detached weights: the ratio is held constant, and every token keeps the gradient of its log-probability."""

import math

from grpo_ref.arrays import TOKENS, Array, array_namespace, is_set
from grpo_ref.surrogates.clip import clipped
from grpo_ref.types import Term

LOG_SMALLEST, LOG_LARGEST = math.log(1e-8), 20.0
"""TRL's limits of VESPO's log-weight, and of the logarithm of each token's correction, in nats."""
SMALLEST, LARGEST = 1e-8, math.exp(LOG_LARGEST)


def cispo(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    min_ratio: float = 0.0,
    max_ratio: float = 5.0,
) -> Term:
    """REINFORCE weighted by a clipped ratio that is held constant: no token ever loses its gradient.

        sₜ = sg[clip(rₜ, min_ratio, max_ratio)] A log πθ(t),   rₜ = exp(log_ratio)

    Only the slope has a meaning; the value contains log πθ. The trainers' three caps:

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
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

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


def gspo_token(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 3e-4,
    clip_high: float = 4e-4,
    max_log_ratio: float = math.inf,
) -> Term:
    """GSPO with a gradient of its own for each token, so that advantages may differ along a completion.

        sₜ = min(s A, clip(s, 1 - clip_low, 1 + clip_high) A),   s = sg[sequence ratio] πθ(t) / sg[πθ(t)]

    Its value is that of the clip on the sequence ratio; the slope, s A where the clip does not hold, is with
    respect to the token's own log-probability. With one advantage per completion and GRPO's weights it
    is GSPO.

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T), one per completion or per token; constant with respect to θ.
      clip_low, clip_high: as in `clipped`; 3e-4 and 4e-4 are the paper's, for a ratio that is a mean.
      max_log_ratio: the log-ratio is limited to this, in nats, and the slope is 0 beyond it; 10 in verl.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    Raises:
      ValueError: if a half-width is out of range.

    Zheng et al. 2025, GSPO (arXiv:2507.18071); verl `compute_policy_loss_gspo`, which is this form.
    """
    xp = array_namespace(log_ratio, advantages)
    near = log_ratio if math.isinf(max_log_ratio) else xp.clip(log_ratio, None, max_log_ratio)
    term = clipped(near, advantages, clip_low=clip_low, clip_high=clip_high)
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
    """REINFORCE weighted by a smooth bump of the sequence ratio: stale completions fade on both sides.

        sₜ = sg[φ(w)] A log πθ(t),   φ(w) = wᵏ e^{λ (1 - w)},   w = πθ(o) / πold(o) Πₜ cₜ

    φ(1) = 1 and its top is at w = k/λ. wᵏ fades out completions that have become unlikely, the exponential
    those that have become too likely. k and λ depend on the sign of A.

    Args:
      log_ratio: (P, G, T) after `sequence_sum_level`, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      correction: (P, G, T) c, the weights for the sampler's mismatch; they belong inside w here. The
        logarithm of each is limited as that of w is, so that one token with c = 0 does not decide alone.
      mask: (P, G, T) 1 on completion tokens.
      k_positive, lambda_positive: of the bump where A >= 0; 2 and 3 in TRL.
      k_negative, lambda_negative: where A < 0; 3 and 2 in TRL.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

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
    good = advantages + xp.zeros_like(log_ratio) >= 0.0
    k = xp.where(good, xp.full_like(log_ratio, k_positive), k_negative)
    rate = xp.where(good, xp.full_like(log_ratio, lambda_positive), lambda_negative)
    log_correction = xp.log(xp.clip(xp.where(is_set(mask), correction, 1.0), SMALLEST, LARGEST))
    log_weight = log_ratio + xp.sum(log_correction, axis=TOKENS, keepdims=True)
    log_weight = xp.clip(log_weight, LOG_SMALLEST, LOG_LARGEST)
    weight = xp.exp(k * log_weight + rate * (1.0 - xp.exp(log_weight))) * advantages
    return Term(value=weight * log_probs, direct=weight)
