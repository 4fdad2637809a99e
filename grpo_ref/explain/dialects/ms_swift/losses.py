"""Kernels of ms-swift for the loss: REAL, FIPO, and a penalty that the corrections also weight."""

import math
from types import SimpleNamespace

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import (
    TOKENS,
    Array,
    array_namespace,
    at_least,
    is_set,
    masked_mean,
    masked_sum,
    where_mask,
)
from grpo_ref.corrections import off_policy_mask
from grpo_ref.penalties import k3
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

GROUP = -2
"""The axis of a group's completions in arrays that also have a token axis."""
LARGEST = 20.0
"""Limit of log-ratios, in nats, before they are exponentiated."""
SAFE_LOW, SAFE_HIGH = 0.8, 1.0
"""Limits of FIPO's weight on bad tokens that have become much more likely."""


def divided_again(mask: Array, *, steps: int) -> Array:
    """Compute `token_mean` over a generation batch, divided once more by the micro-batches of a step.

        W = m / (n Σ m),    n = steps, the sum over all tokens of the generation batch

    Args:
      mask: (P, G, T) 1 on completion tokens.
      steps: gradient_accumulation_steps, times sequence_parallel_size.

    Returns:
      (P, G, T) weights that sum to 1 / steps, or to 0 if no token is left.

    ms-swift 3.11 to 4.5.3, "dapo", "cispo" and "fipo": the number of tokens is that of all micro-batches, and
    `transformers.Trainer` divides each of their losses by how many there are.
    """
    return token_mean(mask) / steps


def by_token(log_ratio: Array, advantages: Array, *, gain: Slot) -> Term:
    """Apply a surrogate to the completion's ratio, with a separate gradient for each token, as in `gspo_token`.

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      gain: the surrogate.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    ms-swift `importance_sampling_level="sequence_token"`.
    """
    term = gain(log_ratio=log_ratio, advantages=advantages)
    return Term(value=term.value, direct=term.slope)


def ranked_in_group(
    log_ratio: Array, advantages: Array, mask: Array, correction: Array, *, tau: float = 0.5
) -> Term:
    """Classify the completions of a group (REAL): good ones are meant to score above 0, the others below 0.

        loss = 1/P Σ_groups log(1 + Σ_bad e^(s/τ)) + log(1 + Σ_good e^(-s/τ)),   s = (1/|o|) Σₜ log rₜ

    A completion is good if A > 0. A group without both kinds counts 0. A completion without tokens, or that
    the corrections exclude, is bad with a score of 0. The value is scaled so that its mean over all
    completions is minus the loss.

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T), one per completion; only their sign counts.
      mask: (P, G, T) 1 on completion tokens.
      correction: (P, G, T) of 0 and 1, equal for all tokens of a completion.
      tau: real_tau, not 0.

    Returns:
      Term of two (P, G, T) arrays, for weights that average over a completion's tokens, then over
      completions.

    Raises:
      ValueError: if tau is 0.

    REAL (arXiv:2602.05630); ms-swift `loss_type="real"`.
    """
    if tau == 0.0:
        raise ValueError("real_tau: expected a number other than 0")
    xp = array_namespace(log_ratio, advantages, mask)
    kept = mask * correction
    score = masked_mean(log_ratio, kept, axis=TOKENS, keepdims=True) / tau
    good = masked_mean(advantages + xp.zeros_like(kept), kept, axis=TOKENS, keepdims=True) > 0.0
    mixed = xp.any(good, axis=GROUP, keepdims=True) & xp.any(~good, axis=GROUP, keepdims=True)
    sides = (good, -1.0), (~good, 1.0)
    parts = [_softplus_of_sum(sign * score, side) for side, sign in sides]
    loss = parts[0][0] + parts[1][0]
    present = xp.astype(xp.any(is_set(mask), axis=TOKENS, keepdims=True), score.dtype)
    size = mask.shape[GROUP]
    share = size / at_least(xp.sum(present, axis=GROUP, keepdims=True), 1.0)
    pull = xp.where(good, parts[0][1], -parts[1][1]) * (size / tau)
    nothing = xp.zeros_like(kept)
    return Term(
        value=xp.where(mixed, -loss * share, 0.0) + nothing,
        slope=xp.where(mixed & is_set(kept), pull + nothing, 0.0),
    )


def _softplus_of_sum(scores: Array, members: Array) -> tuple[Array, Array]:
    """Return log(1 + Σ e^s) over these members of a group, and its slope in each of their scores."""
    xp = array_namespace(scores)
    among = xp.where(members, scores, -xp.inf)
    top = at_least(xp.max(among, axis=GROUP, keepdims=True), 0.0)
    total = xp.exp(-top) + xp.sum(xp.exp(among - top), axis=GROUP, keepdims=True)
    return top + xp.log(total), xp.exp(among - top) / total


def future_kl(
    log_probs: Array,
    old_log_probs: Array,
    log_ratio: Array,
    advantages: Array,
    mask: Array,
    *,
    half_life: float = 32.0,
    width: float | None = 0.2,
    high_only: bool = True,
    max_ratio: float = math.inf,
    safe_ratio: float = math.inf,
) -> Array:
    """Weight a token by the change in probability of the tokens after it (FIPO).

        w = clip(exp Σₛ 2^(-(s - t)/half_life) log rₛ, 1 - width, 1 + width)    over the tokens s at t or after

    Args:
      log_probs, old_log_probs: (P, G, T) in nats.
      log_ratio: (P, G, T) their difference after the level, in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens. A hole counts as a place.
      half_life: fipo_decay_rate.
      width: fipo_clip_range; None or 0 for no clip.
      high_only: fipo_clip_high_only; if true, the lower bound is 1.
      max_ratio: delta. Tokens with a larger ratio are excluded from the sum.
      safe_ratio: fipo_safety_threshold. For a bad token with a larger ratio, w is limited to [0.8, 1].

    Returns:
      (P, G, T) weights.

    FIPO (arXiv:2603.19835); ms-swift `loss_type="fipo"`.
    """
    xp = array_namespace(log_probs, mask)
    ratio = xp.exp(log_ratio)
    moved = where_mask(mask, xp.where(ratio > max_ratio, 0.0, log_probs - old_log_probs))
    places = xp.astype(xp.arange(mask.shape[TOKENS]), moved.dtype)
    ahead = places[:, None] - places[None, :]
    decay = xp.where(ahead >= 0.0, 2.0 ** (-at_least(ahead, 0.0) / half_life), 0.0)
    weight = xp.exp(where_mask(mask, xp.matmul(moved, xp.astype(decay, moved.dtype))))
    if width:
        weight = xp.clip(weight, 1.0 if high_only else 1.0 - width, 1.0 + width)
    hurried = (advantages < 0.0) & (ratio > safe_ratio)
    return xp.where(hurried, xp.clip(weight, SAFE_LOW, SAFE_HIGH), weight)


def fresh_token_mean(
    log_probs: Array, rollout_log_probs: Array, advantages: Array, mask: Array, *, threshold: float
) -> Array:
    """Compute `token_mean` over the tokens that `off_policy_mask` keeps.

    The others do not count in the denominator either.

    Args:
      log_probs, rollout_log_probs, advantages, mask: as in `off_policy_mask`; if vLLM does not sample, the
        learner's old log-probabilities are the sampler's.
      threshold: off_policy_sequence_mask_delta, in nats per token.

    Returns:
      (P, G, T) weights that sum to 1, or to 0 if no token is left.

    ms-swift "bnpo", and the penalty of "real", with off_policy_sequence_mask_delta.
    """
    kept = off_policy_mask(
        log_probs, rollout_log_probs, advantages, mask, threshold=threshold, unknown=-math.inf
    )
    return token_mean(mask * kept)


def weighed_k3(
    log_probs: Array,
    ref_log_probs: Array,
    old_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    weights: tuple[Slot, ...],
) -> Term:
    """Multiply `k3` by the weights for the sampler's mismatch, which are 0 in excluded completions.

        c (e⁻ᵛ - 1 + v),   v = log πθ - log πref, limited to ± 20, and the value to 10

    Args:
      log_probs, ref_log_probs, old_log_probs, rollout_log_probs: (P, G, T) in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      weights: the corrections whose product is c, a constant with respect to θ.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    ms-swift multiplies a token's whole loss by these weights, the penalty in it.
    """
    term = k3(log_probs, ref_log_probs, max_log_ratio=LARGEST, max_value=10.0)
    fields = SimpleNamespace(
        log_probs=log_probs,
        old_log_probs=old_log_probs,
        rollout_log_probs=rollout_log_probs,
        advantages=advantages,
        mask=mask,
    )
    factor = math.prod((part(fields) for part in weights), start=array_namespace(mask).ones_like(log_probs))
    return Term(value=factor * term.value, direct=factor * term.direct)


def top_entropy_of_batch(entropies: Array, mask: Array, *, share: float = 0.2) -> Array:
    """Compute `top_entropy` with a threshold in float32, which is compared with entropies of any precision.

        w = [H >= the (1 - share) quantile of the batch's token entropies, rounded]

    Args:
      entropies: (P, G, T) entropy of the distribution each token was sampled from, in nats.
      mask: (P, G, T) 1 on completion tokens.
      share: top_entropy_quantile, 0 <= share < 1; at 0 the tokens of the highest entropy are left.

    Returns:
      (P, G, T) of 0 and 1.

    ms-swift `_compute_loss_and_metrics`, `torch.nanquantile`.
    """
    xp = array_namespace(entropies, mask)
    present = is_set(mask)
    known = xp.where(present, xp.astype(entropies, xp.float32), xp.inf)
    ordered = xp.sort(xp.reshape(known, (*mask.shape[:-3], -1)), axis=-1)
    number = xp.sum(xp.astype(ordered < xp.inf, xp.float32), axis=-1, keepdims=True)
    place = (1.0 - share) * at_least(number - 1.0, 0.0)
    ends = [
        xp.take_along_axis(ordered, xp.astype(end(place), xp.int64), axis=-1) for end in (xp.floor, xp.ceil)
    ]
    low, high = (xp.where(end < xp.inf, end, 0.0) for end in ends)
    part, width = place - xp.floor(place), high - low
    threshold = xp.where(part < 0.5, low + part * width, high - width * (1.0 - part))
    return xp.astype(present & (entropies >= threshold[..., None, None]), entropies.dtype)


def summed_kl(old_log_probs: Array, ref_log_probs: Array, mask: Array) -> Array:
    """Sum the log-ratio to the reference over the tokens of each completion, (P, G).

        Σₜ (log πold - log πref)

    Args:
      old_log_probs, ref_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens.

    ms-swift `_compute_advantages`.
    """
    return masked_sum(old_log_probs - ref_log_probs, mask, axis=TOKENS)
