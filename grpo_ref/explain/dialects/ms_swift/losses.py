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
    masked_sum,
)
from grpo_ref.corrections import off_policy_mask
from grpo_ref.penalties import k3
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

LARGEST = 20.0
"""Limit of log-ratios, in nats, before they are exponentiated."""


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
