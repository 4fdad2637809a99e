"""What the advantages share: means, standard deviations and variances, and the one place for ddof and eps."""

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


def standardized(rewards: Array, std: Array, eps: float) -> Array:
    """Rewards minus their group's mean, over std + eps; exactly 0 where a group agrees."""
    return zero_if_equal(rewards, (rewards - group_mean(rewards)) / divisor(std, eps))


def group_mean(rewards: Array) -> Array:
    """(..., P, 1) the mean reward of each group."""
    return array_namespace(rewards).mean(rewards, axis=MEMBERS, keepdims=True)


def reward_std(rewards: Array, *, axis: int | tuple[int, int], ddof: int) -> Array:
    """Standard deviation along `MEMBERS` or `COMPLETIONS`, 0 where there are too few for the divisor."""
    _check_ddof(ddof)
    xp = array_namespace(rewards)
    mean = xp.mean(rewards, axis=axis, keepdims=True)
    squares = xp.sum((rewards - mean) ** 2, axis=axis, keepdims=True)
    axes = axis if isinstance(axis, tuple) else (axis,)
    count = math.prod(rewards.shape[one] for one in axes)
    return xp.sqrt(squares / max(count - ddof, 1))


def divisor(std: Array, eps: float) -> Array:
    """The divisor std + eps, and 1 where that is 0: there the numerator is 0 as well."""
    _check_eps(eps)
    scale = std + eps
    return array_namespace(scale).where(scale > 0.0, scale, 1.0)


def zero_if_equal(rewards: Array, advantages: Array) -> Array:
    """Exact zeros where a group agrees: the mean of equal numbers can be off by one rounding."""
    xp = array_namespace(rewards)
    equal = xp.all(rewards == rewards[..., :1], axis=MEMBERS, keepdims=True)
    return xp.where(equal, 0.0, advantages)


def masked_moments(
    values: Array, mask: Array, *, axis: int | tuple[int, ...], ddof: int
) -> tuple[Array, Array]:
    """Mean and variance of the masked entries along the axes; the variance is 0 where there are too few."""
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
