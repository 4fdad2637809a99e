"""Metrics: what to look at while a policy trains. Each returns one number per run, of shape (...,)."""

from grpo_ref.arrays import (
    BATCH,
    COMPLETIONS,
    MEMBERS,
    TOKENS,
    Array,
    array_namespace,
    as_floating,
    at_least,
    is_set,
    masked_mean,
    masked_sum,
    where_mask,
)
from grpo_ref.types import Term


def clip_fractions(term: Term, log_ratio: Array, advantages: Array, mask: Array) -> tuple[Array, Array]:
    """Share of clipped tokens: A ≠ 0, but the gradient is 0. Two shares, for ratios below and above 1.

        low:  A ≠ 0, slope + direct = 0 and r < 1        high:  A ≠ 0, slope + direct = 0 and r > 1

    For the clipped surrogate, low means A < 0 and r < 1 - clip_low, and high means A > 0 and r > 1 +
    clip_high. A token beyond the other bound still has a gradient, so it is not clipped.

    Args:
      term: the Term of the surrogate.
      log_ratio: (P, G, T) after the level, in nats.
      advantages: broadcastable to (P, G, T).
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      Two (...,) shares between 0 and 1.

    TRL `clip_ratio/low_mean` and `clip_ratio/high_mean` at the token level. At the sequence level TRL counts
    completions. TRL does not count tokens as clipped that only `delta` limits.
    """
    xp = array_namespace(log_ratio, advantages, mask)
    is_clipped = (term.slope + term.direct + xp.zeros_like(log_ratio) == 0.0) & (advantages != 0.0)
    low = xp.astype(is_clipped & (log_ratio < 0.0), log_ratio.dtype)
    high = xp.astype(is_clipped & (log_ratio > 0.0), log_ratio.dtype)
    return masked_mean(low, mask, axis=BATCH), masked_mean(high, mask, axis=BATCH)


def approx_kl(log_ratio: Array, mask: Array) -> Array:
    """Estimate of KL(πold ‖ πθ), in nats per token.

        mean(r - 1 - log r),   r = exp(log_ratio)

    Never negative. verl's `ppo_kl` and RLinf's `approx_kl` are the noisier mean(-log r).

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (...,) nats per token.

    Schulman 2020, "Approximating KL divergence", k3.
    """
    log_ratio = where_mask(mask, log_ratio)
    return masked_mean(array_namespace(log_ratio).expm1(log_ratio) - log_ratio, mask, axis=BATCH)


def entropy(all_log_probs: Array) -> Array:
    """Entropy of each distribution, in nats.

        H = -Σₐ πₐ log πₐ

    Tokens with log-probability -inf contribute 0.

    Args:
      all_log_probs: (..., V) log-probabilities of every token.

    Returns:
      (...,) nats, between 0 and log V.

    >>> import numpy as np
    >>> round(float(entropy(np.log(np.array([0.5, 0.5])))), 6)
    0.693147
    """
    xp = array_namespace(all_log_probs)
    probs = xp.exp(all_log_probs)
    return -xp.vecdot(probs, xp.where(probs > 0.0, all_log_probs, 0.0))


def mean_entropy(entropies: Array, mask: Array) -> Array:
    """Mean entropy over the completion tokens, in nats per token.

    Args:
      entropies: (P, G, T) entropy of the policy at each token. In training, the policy that sampled the
        batch.
      mask: (P, G, T) 1 on completion tokens.
    """
    return masked_mean(entropies, mask, axis=BATCH)


def dead_group_fraction(rewards: Array) -> Array:
    """Share of the groups with equal rewards, which have no gradient in most recipes.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (...,) share between 0 and 1.

    TRL `frac_reward_zero_std`, where a std of up to 1e-8 is zero.
    """
    xp = array_namespace(rewards)
    is_equal = xp.max(rewards, axis=MEMBERS) == xp.min(rewards, axis=MEMBERS)
    return xp.mean(xp.astype(is_equal, as_floating(rewards).dtype), axis=-1)


def reward_width(rewards: Array) -> Array:
    """Standard deviation of the rewards over the whole batch.

    A falling value means that the answers become alike.

        std over all completions of the batch

    Args:
      rewards: (P, G).

    Returns:
      (...,) in units of reward.
    """
    xp = array_namespace(rewards)
    return xp.std(rewards, axis=COMPLETIONS)


def effective_sample_size(log_ratio: Array, mask: Array) -> Array:
    """Kish's effective sample size of the importance ratios, as a share of the tokens.

        (Σ r)² / (n Σ r²)

    1 on-policy; 1/n when one token has all the weight.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (...,) share between 0 and 1; 0 if no token is left.

    Kish 1965; verl `rollout_is_eff_sample_size`.
    """
    xp = array_namespace(log_ratio, mask)
    largest = xp.max(xp.where(is_set(mask), log_ratio, -xp.inf), axis=BATCH, keepdims=True)
    weights = xp.exp(where_mask(mask, log_ratio - xp.where(xp.isfinite(largest), largest, 0.0)))
    mean = masked_mean(weights, mask, axis=BATCH)
    square = masked_mean(weights**2, mask, axis=BATCH)
    return mean**2 / xp.where(square > 0.0, square, 1.0)


def ratio_extremes(log_ratio: Array, mask: Array) -> tuple[Array, Array]:
    """The smallest and the largest importance ratio of the batch.

    Args:
      log_ratio: (P, G, T) log πθ - log πold after the level, in nats.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      Two (...,) ratios; 1 and 1 if no token is left.
    """
    xp = array_namespace(log_ratio, mask)
    tokens = xp.any(is_set(mask), axis=BATCH)
    lowest = xp.exp(xp.min(xp.where(is_set(mask), log_ratio, xp.inf), axis=BATCH))
    highest = xp.exp(xp.max(xp.where(is_set(mask), log_ratio, -xp.inf), axis=BATCH))
    return xp.where(tokens, lowest, 1.0), xp.where(tokens, highest, 1.0)


def mean_length(mask: Array) -> Array:
    """Mean number of tokens per completion.

    Args:
      mask: (P, G, T) 1 on completion tokens.
    """
    return array_namespace(mask).mean(masked_sum(as_floating(mask), mask, axis=TOKENS), axis=COMPLETIONS)


def distinct_ngrams(tokens: Array, mask: Array, *, n: int, vocabulary: int) -> Array:
    """Number of distinct n-grams / number of n-grams of a batch. It falls when the policy repeats itself.

        distinct n-grams / all n-grams,    within completions only

    Args:
      tokens: (P, G, T) integers from 0 to vocabulary - 1.
      mask: (P, G, T) 1 on completion tokens.
      n: length of the n-grams, in tokens.
      vocabulary: V.

    Returns:
      (...,) share between 0 and 1; 0 if no completion has n tokens.

    Li et al. 2016, distinct-n (arXiv:1510.03055).
    """
    xp = array_namespace(tokens, mask)
    starts = max(tokens.shape[TOKENS] - n + 1, 0)
    code = xp.zeros_like(tokens[..., :starts])
    is_complete = xp.ones_like(mask[..., :starts], dtype=xp.bool)
    for k in range(n):
        code = code * vocabulary + tokens[..., k : k + starts]
        is_complete = is_complete & is_set(mask[..., k : k + starts])
    # The code -1 marks an n-gram that reaches into the padding. One more -1 for each completion makes sure
    # that the sorted codes begin with -1, so that each change between neighbours is one distinct n-gram.
    none = xp.full_like(tokens[..., :1], -1)
    codes = xp.concat([none, xp.where(is_complete, code, -1)], axis=TOKENS)
    codes = xp.sort(xp.reshape(codes, (*tokens.shape[:-3], -1)), axis=-1)
    distinct = xp.sum(xp.astype(codes[..., 1:] != codes[..., :-1], xp.float64), axis=-1)
    return distinct / at_least(xp.sum(xp.astype(codes >= 0, xp.float64), axis=-1), 1.0)
