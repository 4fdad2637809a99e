"""Kernels of RLinf: two different actors, averages without a bound, and micro-batches that are excluded."""

from math import inf, nan

from grpo_ref.advantages import group_normalized
from grpo_ref.advantages.moments import masked_moments
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.arrays import (
    BATCH,
    GROUP,
    PROMPTS,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    batch_sum,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.recipes import Slot
from grpo_ref.types import Term

# ---- averages and corrections --------------------------------------------------------------------


def nan_where_empty(mask: Array, *, first_counts: bool = True) -> Array:
    """Compute `sequence_mean_token_mean` without a bound on the length: a completion without tokens gives 0/0.

        W = m / (|o| n),    |o| the tokens of the completion, n the completions

    Args:
      mask: (P, G, T) 1 on completion tokens.
      first_counts: if true, all weights are 0 if the first completion has no tokens, see
        `unless_first_is_empty`. This is true for the surrogate, and false for the penalty and the entropy.

    Returns:
      (P, G, T) weights; NaN for completions without tokens, so that the loss is NaN.

    RLinf `utils.py`, "seq-mean-token-mean".
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    weights = xp.where(lengths > 0.0, sequence_mean_token_mean(mask), xp.nan)
    return xp.where(unless_first_is_empty(mask) > 0.0, weights, 0.0) if first_counts else weights


def unless_stopped(
    log_ratio: Array, mask: Array, *, aggregate: Slot, max_ratio: float, after_empty: bool = False
) -> Array:
    """Return the average of the penalty, which an early stop sets to 0 like everything else.

        V = W [mean over the tokens of the batch of r <= max_ratio],   r = exp(log_ratio)

    Args:
      log_ratio: (P, G, T) after the level and its limits, in nats.
      mask: (P, G, T) 1 on completion tokens.
      aggregate: the average itself, W.
      max_ratio: `early_stop_imp_ratio`.
      after_empty: if true, a batch that begins with an empty completion has no ratio and is never stopped.

    Returns:
      (P, G, T) weights, all 0 where the batch is stopped.

    RLinf `megatron_actor_worker.py`, `loss = loss * 0.0`; the part for the surrogate is `early_stop`.
    """
    xp = array_namespace(log_ratio, mask)
    stopped = masked_mean(xp.exp(log_ratio), mask, axis=BATCH, keepdims=True) > max_ratio
    if after_empty:
        stopped = stopped & is_set(unless_first_is_empty(mask))
    return xp.astype(~stopped, log_ratio.dtype) * aggregate(mask=mask)


def unless_first_is_empty(mask: Array) -> Array:
    """Exclude a whole batch if its first completion has no token. RLinf meant to exclude only empty batches.

        w = [Σ m of the first completion > 0]

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) all 0 or all 1.

    RLinf `compute_ppo_actor_loss`, `fast_path_zero_loss_mask`, which looks at `loss_mask[0]` only.
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    return xp.max(mask[..., :1, :1, :], axis=TOKENS, keepdims=True) + xp.zeros_like(mask)


def weighed_unless_first_is_empty(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, weights: Slot
) -> Array:
    """Return the weights for the sampler's mismatch; all 0 if the batch's first completion has no token.

        w = weights where Σ m of the first completion > 0,   else 0

    Nothing in an excluded batch is read, so that NaN from the sampler does no harm there.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats.
      mask: (P, G, T) 1 on completion tokens.
      weights: the correction, of these three.

    Returns:
      (P, G, T) weights; all of them 0 if the batch is excluded.

    RLinf `compute_ppo_actor_loss`, which returns before it reads the weighted advantages.
    """
    found = weights(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=mask)
    return array_namespace(found, mask).where(is_set(unless_first_is_empty(mask)), found, 0.0)


def behaviour_weight(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, max_ratio: float = inf
) -> Array:
    """Return the ratio of the proximal policy to the sampling policy, times 0 beyond the threshold.

        w = c [c <= max_ratio],   c = exp(log πold - log πrollout)

    Without a threshold, the ratio is neither limited nor dropped. Infinity times 0 is NaN, and so is a ratio
    that the sampler did not report.

    Args:
      old_log_probs: (P, G, T) of the proximal policy, in nats.
      rollout_log_probs: (P, G, T) of the sampling policy, in nats.
      mask: (P, G, T) 1 on completion tokens.
      max_ratio: `behave_weight_threshold`.

    Returns:
      (P, G, T) weights.

    RLinf `compute_decoupled_ppo_actor_loss`.
    """
    ratio = _behaviour(old_log_probs, rollout_log_probs, mask)
    return ratio * array_namespace(ratio).astype(ratio <= max_ratio, ratio.dtype)


def mean_below(old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, max_ratio: float) -> Array:
    """Return the same weight for every token whose `behaviour_weight` is below the threshold.

        W = m [c <= max_ratio] / Σ m [c <= max_ratio],   c = exp(log πold - log πrollout)

    Args:
      old_log_probs, rollout_log_probs, mask, max_ratio: as in `behaviour_weight`.

    Returns:
      (P, G, T) weights that sum to 1, or to 0 if no token is left.

    RLinf `compute_decoupled_ppo_actor_loss`.
    """
    ratio = _behaviour(old_log_probs, rollout_log_probs, mask)
    return token_mean(as_floating(mask) * array_namespace(ratio).astype(ratio <= max_ratio, ratio.dtype))


def _behaviour(old_log_probs: Array, rollout_log_probs: Array, mask: Array) -> Array:
    return array_namespace(old_log_probs).exp(where_mask(mask, old_log_probs - rollout_log_probs))


def swapped(log_probs: Array, ref_log_probs: Array, *, estimator: Slot) -> Term:
    """Apply a penalty with policy and reference swapped.

        estimator(log πref, log πθ),   whose slope in log πθ is minus the slope in its first argument

    k1 becomes a bonus for distance, and k3 the estimate of the other direction, eᵛ - 1 - v. k2 and the
    absolute value do not change.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      estimator: the penalty. Its slope may depend only on the difference of the two.

    Returns:
      Term with (P, G, T) value and direct slope with respect to log_probs.

    RLinf `fsdp_actor_worker.py`, fixed in its PR #1400.
    """
    term: Term = estimator(log_probs=ref_log_probs, ref_log_probs=log_probs)
    return Term(value=term.value, direct=-term.direct)


# ---- advantages ----------------------------------------------------------------------------------


def normalized_thrice(
    rewards: Array, mask: Array, *, ddof: int = 1, eps: float = 1e-6, token_eps: float = 1e-5
) -> Array:
    """Standardize in the group, then over all tokens of the batch, and then over the tokens once more.

        aᵢₜ = (rᵢ - mean(r)) / (std(r) + eps),   twice: aᵢₜ <- (aᵢₜ - mean) / (std + token_eps)

    The first std over the tokens has the divisor n - 1, and counts the holes of the mask with a = 0; the second
    one has n.

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      ddof, eps: in the group.
      token_eps: over the tokens.

    Returns:
      (P, G, T), 0 on padding; NaN if the batch has one token only.

    RLinf `megatron_worker.py`, `run_training`; its FSDP actor's is `normalized_twice`, and so is Megatron's own
    in pipeline mode.
    """
    scores = group_normalized(rewards, ddof=ddof, eps=eps)[..., None]
    return _again(scores, mask, (1, 0), token_eps, holes=True)


def standardized_tokens(
    rewards: Array, mask: Array, *, again: tuple[int, ...] = (0,), holes: bool = False, eps: float = 1e-5
) -> Array:
    """Put the reward at every token and standardize it over all tokens of the batch.

        aᵢₜ = rᵢ,   for each ddof of `again`: aᵢₜ <- (aᵢₜ - mean) / (std + eps)

    Args:
      rewards: (P, G).
      mask: (P, G, T) 1 on completion tokens.
      again: the ddof of each standardization, one after another.
      holes: if true, the second to last standardization counts holes of the mask with a = 0, as in
        `normalized_thrice`.
      eps: added to the standard deviation.

    Returns:
      (P, G, T), 0 on padding; NaN where there are too few tokens for a ddof.

    RLinf "raw", and "gae" without a critic, where the discount is 1.
    """
    return _again(rewards[..., None], mask, again, eps, holes=holes)


def reinpp(
    rewards: Array,
    mask: Array,
    *,
    min_variance: float = 1e-8,
    again: tuple[int, ...] = (),
    holes: bool = False,
    eps: float = 1e-5,
) -> Array:
    """Compute RLinf's REINFORCE++: the reward standardized over all tokens, without a baseline of the group.

        aᵢₜ = rᵢ,   Aᵢₜ = (aᵢₜ - mean) / √max(var, min_variance)    over the tokens of the batch

    The reward should be at the last token. But RLinf looks for that place in the mask of the completion at
    the mirrored position of the batch, from the end of the padding. So tokens get no reward where that mask
    begins with zeros.

    Args:
      rewards: (P, G).
      mask: (P, G, T) 1 on completion tokens.
      min_variance: lower limit of the variance.
      again, holes, eps: as in `standardized_tokens`, applied afterwards.

    Returns:
      (P, G, T), 0 on padding.

    RLinf `compute_reinpp_advantages`, whose `fliplr` mirrors completions, not tokens.
    """
    return _again(_reinpp(_placed(rewards, mask), mask, min_variance), mask, again, eps, holes=holes)


def reinpp_with_kl(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    kl_coef: float,
    estimator: Slot,
    min_variance: float = 1e-8,
    again: tuple[int, ...] = (),
    holes: bool = False,
    eps: float = 1e-5,
    tokens_only: bool = True,
) -> Array:
    """Compute `reinpp` with a penalty in the reward of each token.

    It counts in the returns of all tokens before.

        aᵢₜ = rᵢ - kl_coef Σ estimate from t to the end,   Aᵢₜ = (aᵢₜ - mean) / √max(var, min_variance)

    Args:
      rewards, mask, min_variance, again, holes, eps: as in `reinpp`.
      old_log_probs, ref_log_probs: (P, G, T) in nats.
      kl_coef: `reinpp_kl_beta`.
      estimator: the penalty.
      tokens_only: if true, only tokens of the mask are penalized, as with Megatron. If false, tool output and
        padding are penalized too, as with FSDP.

    Returns:
      (P, G, T), 0 on padding.

    RLinf `compute_reinpp_advantages`.
    """
    xp = array_namespace(rewards, mask)
    counted = mask if tokens_only else xp.ones_like(as_floating(mask))
    old, ref = where_mask(counted, old_log_probs), where_mask(counted, ref_log_probs)
    costs = estimator(log_probs=old, ref_log_probs=ref).value
    to_come = xp.flip(xp.cumulative_sum(xp.flip(costs, axis=TOKENS), axis=TOKENS), axis=TOKENS)
    returns = _placed(rewards, mask) - kl_coef * to_come
    return _again(_reinpp(returns, mask, min_variance), mask, again, eps, holes=holes)


def _placed(rewards: Array, mask: Array) -> Array:
    """Return the reward up to the place where RLinf puts it, and 0 after that, (P, G, T)."""
    xp = array_namespace(rewards, mask)
    mirrored = xp.flip(as_floating(mask), axis=(PROMPTS, GROUP))
    last = mask.shape[TOKENS] - 1 - xp.argmax(mirrored, axis=TOKENS, keepdims=True)
    return xp.where(xp.arange(mask.shape[TOKENS]) <= last, rewards[..., None], 0.0)


def _reinpp(returns: Array, mask: Array, min_variance: float) -> Array:
    mean, variance = masked_moments(returns, mask, axis=BATCH, ddof=0)
    xp = array_namespace(returns)
    return where_mask(mask, (returns - mean) / xp.sqrt(at_least(variance, min_variance)))


def _again(values: Array, mask: Array, ddofs: tuple[int, ...], eps: float, *, holes: bool) -> Array:
    """Standardize over all tokens for each ddof; the second to last time over the holes too if they count."""
    xp = array_namespace(values, mask)
    present = xp.astype(is_set(mask), values.dtype)
    to_the_end = xp.flip(xp.cumulative_sum(xp.flip(present, axis=TOKENS), axis=TOKENS), axis=TOKENS)
    values = where_mask(mask, values + xp.zeros_like(present))
    for left, ddof in reversed(list(enumerate(reversed(ddofs)))):
        counted = to_the_end if holes and left == 1 else present
        values = where_mask(mask, _standardized(values, counted, ddof, eps))
    return values


def _standardized(values: Array, mask: Array, ddof: int, eps: float) -> Array:
    """Standardize over all tokens of the mask, in float64 as RLinf does; NaN if there are too few for the ddof."""
    xp = array_namespace(values, mask)
    exact = xp.astype(values, xp.float64)
    mean, variance = masked_moments(exact, mask, axis=BATCH, ddof=ddof)
    tokens = batch_sum(xp.astype(is_set(mask), exact.dtype), keepdims=True)
    scale = xp.where(tokens > ddof, xp.sqrt(variance), nan) + eps
    return xp.astype((exact - mean) / scale, values.dtype)


# ---- recorded calls ------------------------------------------------------------------------------
