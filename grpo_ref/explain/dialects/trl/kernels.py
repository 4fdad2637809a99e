"""Kernels of TRL for the loss: masks, weights and averages."""

import math
from types import SimpleNamespace

from grpo_ref.arrays import TOKENS, Array, array_namespace, at_least, is_set, masked_sum
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes import Slot
from grpo_ref.surrogates import sapo
from grpo_ref.types import Term

LEVELS = {"token": token_level, "sequence": sequence_mean_level}
"""The values of `importance_sampling_level`."""
LOG_SMALLEST, LOG_LARGEST = math.log(1e-8), 20.0
"""VESPO's limits of the logarithm of its weight, and of each term of that logarithm, in nats."""
MIN_RATE = 1e-4
"""Lower limit of VESPO's λ."""


def cispo_with_any_cap(log_ratio: Array, log_probs: Array, advantages: Array, *, max_ratio: float) -> Term:
    """Compute `cispo` with a cap that may be below 0, which makes it the weight of every token.

        sₜ = sg[min(rₜ, max_ratio)] A log πθ(t),   rₜ = exp(log_ratio)

    Args:
      log_ratio, log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      max_ratio: TRL's epsilon_high.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    TRL `loss_type="cispo"`.
    """
    xp = array_namespace(log_ratio, log_probs, advantages)
    ratio = xp.exp(log_ratio)
    weight = xp.where(ratio > max_ratio, max_ratio, ratio) * advantages
    return Term(value=weight * log_probs, direct=weight)


def sapo_of_any_sign(
    log_ratio: Array, advantages: Array, *, tau_positive: float, tau_negative: float
) -> Term:
    """Compute `sapo` with temperatures that may be below 0, which shifts the value by a constant and keeps the slope.

        (4/τ) σ(τ (r - 1)) = (4/|τ|) σ(|τ| (r - 1)) - 4/|τ|    where τ < 0

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      tau_positive, tau_negative: TRL's temperatures. They must not be 0, where TRL divides by 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    TRL `loss_type="sapo"`.
    """
    xp = array_namespace(log_ratio, advantages)
    term = sapo(log_ratio, advantages, tau_positive=abs(tau_positive), tau_negative=abs(tau_negative))
    below = [min(4.0 / tau, 0.0) for tau in (tau_positive, tau_negative)]
    moved = xp.where(advantages > 0.0, xp.full_like(log_ratio, below[0]), below[1])
    return Term(value=term.value + moved * advantages, slope=term.slope)


def top_entropy_in_float32(entropies: Array, mask: Array, *, share: float = 0.2) -> Array:
    """Compute `top_entropy` with a threshold in float32, which is compared with entropies of any precision.

        w = [H >= the (1 - share) quantile of the batch's token entropies, rounded]

    A token whose entropy equals the threshold is dropped if the threshold was rounded up. If everything is
    float32, only the place of the quantile can be inexact.

    Args:
      entropies: (P, G, T) entropy of the distribution each token was sampled from, in nats.
      mask: (P, G, T) 1 on completion tokens.
      share: fraction of the tokens, 0 <= share < 1; at 0 only the tokens with the highest entropy remain.

    Returns:
      (P, G, T) of 0 and 1.

    Raises:
      ValueError: if share is below 0.

    TRL `get_high_entropy_mask`, `torch.quantile`.
    """
    if not share >= 0.0:
        raise ValueError(f"top_entropy_quantile: TRL refuses a share below 0, got {share}")
    xp = array_namespace(entropies, mask)
    present = is_set(mask)
    flat = xp.reshape(xp.where(present, xp.astype(entropies, xp.float32), xp.inf), (*mask.shape[:-3], -1))
    ordered = xp.sort(flat, axis=-1)
    last = at_least(xp.sum(xp.astype(flat < xp.inf, xp.float32), axis=-1, keepdims=True) - 1.0, 0.0)
    place = (1.0 - share) * last
    places = (xp.astype(at, xp.int64) for at in (xp.floor(place), xp.ceil(place)))
    below, above = (_found(xp.take_along_axis(ordered, at, axis=-1)) for at in places)
    threshold = _between(below, above, place - xp.floor(place))[..., None, None]
    return xp.astype(present & (entropies >= threshold), entropies.dtype)


def _found(entropy: Array) -> Array:
    """Return the entropy, or 0 where there is no token."""
    xp = array_namespace(entropy)
    return xp.where(entropy < xp.inf, entropy, 0.0)


def _between(below: Array, above: Array, part: Array) -> Array:
    """Interpolate linearly, with the rounding of `torch.lerp`."""
    width = above - below
    return array_namespace(part).where(part < 0.5, below + part * width, above - width * (1.0 - part))


def vespo_in_limits(
    log_probs: Array,
    old_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    k_positive: float = 2.0,
    lambda_positive: float = 3.0,
    k_negative: float = 3.0,
    lambda_negative: float = 2.0,
    sampler: tuple[Slot, ...] = (),
) -> Term:
    """Compute `vespo` with a limit on each token.

    The sampler's weights are inside w, other corrections are outside.

        sₜ = sg[φ(w)] A log πθ(t),   log w = Σₜ clip(log rₜ, ±20) + Σₜ clip(log cₜ, log 1e-8, 20)

    The second sum includes the padding, where c is 1, or the nearest bound of a window without 1.

    Args:
      log_probs, old_log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.
      k_positive, lambda_positive, k_negative, lambda_negative: as in `vespo`; a λ below 1e-4 is replaced by
        1e-4.
      sampler: the weights c for the sampler's mismatch; empty for none.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    TRL `get_gamma_weights` and `loss_type="vespo"`.
    """
    xp = array_namespace(log_probs, advantages)
    log_ratio = xp.clip(log_probs - old_log_probs, -LOG_LARGEST, LOG_LARGEST)
    log_weight = masked_sum(log_ratio, mask, axis=TOKENS, keepdims=True)
    fields = SimpleNamespace(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=mask)
    for part in sampler:
        limited = xp.clip(part(fields), math.exp(LOG_SMALLEST), math.exp(LOG_LARGEST))
        log_weight = log_weight + xp.sum(xp.log(limited), axis=TOKENS, keepdims=True)
    log_weight = xp.clip(log_weight, LOG_SMALLEST, LOG_LARGEST)
    good = advantages + xp.zeros_like(log_probs) >= 0.0
    k = xp.where(good, xp.full_like(log_probs, k_positive), k_negative)
    rate = xp.where(
        good, xp.full_like(log_probs, max(lambda_positive, MIN_RATE)), max(lambda_negative, MIN_RATE)
    )
    weight = xp.exp(k * log_weight + rate * (1.0 - xp.exp(log_weight))) * advantages
    return Term(value=weight * log_probs, direct=weight)


def weighted_k3_beside(
    log_probs: Array, ref_log_probs: Array, old_log_probs: Array, mask: Array, *, level: str = "token"
) -> Term:
    """Compute `weighted_k3` with another ratio than the surrogate's: the token's, or the geometric mean.

        r (e⁻ᵛ - 1 + v),   r = exp(level(log πθ - log πold)),  v = log πθ - log πref

    Its slope is correct for weights that are equal for all tokens of a completion, as TRL's are.

    Args:
      log_probs, ref_log_probs, old_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens.
      level: "token" or "sequence", TRL's importance_sampling_level.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    TRL `use_bias_correction_kl` with `loss_type="vespo"`.
    """
    term = k3(log_probs, ref_log_probs)
    ratio = array_namespace(log_probs).exp(LEVELS[level](log_probs - old_log_probs, mask))
    return Term(
        value=ratio * term.value, direct=LEVELS[level](ratio * term.value, mask) + ratio * term.direct
    )


def geometric_mean_of_kept(
    log_ratio: Array,
    advantages: Array,
    mask: Array,
    correction: Array,
    *,
    clip_low: float = 0.4,
    clip_high: float = 0.4,
) -> Term:
    """Compute `geometric_mean_clipped` over only the tokens that the entropy mask keeps.

        s = A exp(1/n Σₜ cₜ zₜ),   n = Σₜ cₜ,   zₜ the clipped log-ratio of `geometric_mean_clipped`

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      advantages: broadcastable to (P, G, T), one per completion; constant with respect to θ.
      mask: (P, G, T) 1 on completion tokens.
      correction: (P, G, T) of 0 and 1.
      clip_low, clip_high: half-widths in log space.

    Returns:
      Term of two (P, G, T) arrays, for weights that are the mean over a completion of all its tokens.

    TRL `experimental.gmpo` with `top_entropy_quantile`.
    """
    xp = array_namespace(log_ratio, advantages, mask)
    good, bad = advantages > 0.0, advantages < 0.0
    stopped = (good & (log_ratio > clip_high)) | (bad & (log_ratio < -clip_low))
    near = xp.where(stopped, xp.clip(log_ratio, -clip_low, clip_high), log_ratio)
    kept = mask * correction
    count = at_least(xp.sum(kept, axis=TOKENS, keepdims=True), 1.0)
    mean = masked_sum(near, kept, axis=TOKENS, keepdims=True) / count
    value = xp.exp(mean) * advantages + xp.zeros_like(log_ratio)
    share = kept * xp.sum(mask, axis=TOKENS, keepdims=True) / count
    return Term(value=value, slope=xp.where(stopped, 0.0, value * share))
