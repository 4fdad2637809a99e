"""Means, standard deviations and variances: the one place for ddof and eps."""

import math

from grpo_ref.arrays import (
    BATCH,
    MEMBERS,
    Array,
    array_namespace,
    at_least,
    is_set,
    masked_mean,
    masked_sum,
    where_mask,
)


def deviations(rewards: Array) -> Array:
    """Rewards minus their group's mean; exactly 0 in a group with equal rewards.

    Equal rewards need a case of their own, because the mean of equal numbers can have a rounding error.
    Subtracting the group's first reward before taking the mean would also avoid this error. But the result
    would then differ from all trainers if the rewards are much larger than their differences.
    """
    xp = array_namespace(rewards)
    equal = xp.all(rewards == rewards[..., :1], axis=MEMBERS, keepdims=True)
    return xp.where(equal, 0.0, rewards - group_mean(rewards))


def group_mean(rewards: Array) -> Array:
    """(..., P, 1) the mean reward of each group."""
    return array_namespace(rewards).mean(rewards, axis=MEMBERS, keepdims=True)


def reward_std(rewards: Array, *, axis: int | tuple[int, int], ddof: int) -> Array:
    """Standard deviation along `MEMBERS` or `COMPLETIONS`; 0 if there is only one reward."""
    mean = array_namespace(rewards).mean(rewards, axis=axis, keepdims=True)
    return spread(rewards - mean, axis=axis, ddof=ddof)


def spread(centered: Array, *, axis: int | tuple[int, int], ddof: int) -> Array:
    """Standard deviation, as `reward_std`, of rewards whose mean is already subtracted."""
    _check_ddof(ddof)
    axes = axis if isinstance(axis, tuple) else (axis,)
    count = math.prod(centered.shape[one] for one in axes)
    xp = array_namespace(centered)
    return xp.sqrt(xp.sum(centered**2, axis=axis, keepdims=True) / max(count - ddof, 1))


def divisor(std: Array, eps: float) -> Array:
    """The divisor std + eps, or 1 where that is 0, because the numerator is 0 there as well."""
    _check_eps(eps)
    scale = std + eps
    return array_namespace(scale).where(scale > 0.0, scale, 1.0)


def masked_moments(
    values: Array, mask: Array, *, axis: int | tuple[int, ...], ddof: int
) -> tuple[Array, Array]:
    """Mean and variance along the axes, over the entries with mask 1; the variance of a single entry is 0."""
    _check_ddof(ddof)
    xp = array_namespace(values, mask)
    mean = masked_mean(values, mask, axis=axis, keepdims=True)
    squares = masked_sum((values - mean) ** 2, mask, axis=axis, keepdims=True)
    count = xp.sum(xp.astype(is_set(mask), values.dtype), axis=axis, keepdims=True)
    return mean, squares / at_least(count - ddof, 1.0)


def whiten(values: Array, mask: Array, *, ddof: int, eps: float) -> Array:
    """Values per token with mean 0 and variance 1 over all tokens of the batch; 0 on padding."""
    _check_eps(eps)
    xp = array_namespace(values, mask)
    mean, variance = masked_moments(values, mask, axis=BATCH, ddof=ddof)
    variance = variance + eps
    return where_mask(mask, (values - mean) / xp.sqrt(xp.where(variance > 0.0, variance, 1.0)))


def _check_ddof(ddof: int) -> None:
    if ddof not in (0, 1):
        raise ValueError(f"ddof: expected 0 (population) or 1 (sample), got {ddof}")


def _check_eps(eps: float) -> None:
    if not eps >= 0.0:
        raise ValueError(f"eps: expected a number >= 0, got {eps}")
