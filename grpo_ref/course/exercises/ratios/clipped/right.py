"""Right answers to `ratios/clipped` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    out = []
    for x, y in zip(r.ravel(), a.ravel(), strict=True):
        held = max(1 - clip_low, min(x, 1 + clip_high))
        out.append(min(x * y, held * y))
    return np.array(out).reshape(r.shape)


def by_the_sign(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return np.where(a > 0, np.minimum(r, 1 + clip_high), np.maximum(r, 1 - clip_low)) * a


def nested_lists(ratio, advantages, clip_low=0.2, clip_high=0.2):
    if isinstance(ratio, np.ndarray):
        ratio, advantages = ratio.tolist(), np.asarray(advantages).tolist()
    if isinstance(advantages, np.ndarray):
        advantages = advantages.tolist()
    if isinstance(ratio, list):
        return [nested_lists(x, y, clip_low, clip_high) for x, y in zip(ratio, advantages, strict=True)]
    return min(ratio * advantages, min(max(ratio, 1 - clip_low), 1 + clip_high) * advantages)


def stacked(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return np.stack([r, r.clip(1 - clip_low, 1 + clip_high)]).__mul__(a).min(axis=0)


def minus_the_excess(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    result = np.array(r * a, ndmin=r.ndim)
    bound = np.where(r > 1 + clip_high, 1 + clip_high, np.where(r < 1 - clip_low, 1 - clip_low, r)) * a
    is_better = bound < result
    result = np.where(is_better, bound, result)
    return result


def in_log_space(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.atleast_1d(np.asarray(ratio, dtype=float)), np.atleast_1d(np.asarray(advantages, dtype=float))
    log_low, log_high = math.log(1 - clip_low), math.log1p(clip_high)
    held = np.exp(np.minimum(np.maximum(np.log(r), log_low), log_high))
    result = np.fmin(r * a, held * a)
    return result if np.ndim(ratio) else result[0]


def with_scipy(ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    above = r - (1 + clip_high)
    below = (1 - clip_low) - r
    held = np.where(above > 0, 1 + clip_high, np.where(below > 0, 1 - clip_low, r))
    return -scipy.special.xlogy(np.maximum(-r * a, -held * a), np.e)
