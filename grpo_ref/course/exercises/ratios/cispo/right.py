"""Right answers to `ratios/cispo` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(log_ratio, advantages, max_ratio=5.0):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    slopes = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        weight = math.exp(x[i])
        if weight > max_ratio:
            weight = max_ratio
        slopes[i] = weight * a[i]
    return slopes


def capped_in_log_space(log_ratio, advantages, max_ratio=5.0):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return np.exp(np.minimum(x, np.log(max_ratio))) * a


def nested_lists(log_ratio, advantages, max_ratio=5.0):
    if np.ndim(log_ratio):
        return [nested_lists(x, a, max_ratio) for x, a in zip(log_ratio, advantages, strict=True)]
    return min(math.exp(log_ratio), max_ratio) * advantages


def with_clip(log_ratio, advantages, max_ratio=5.0):
    weight = np.clip(np.exp(np.asarray(log_ratio, dtype=float)), 0, max_ratio)
    return np.multiply(weight, advantages)


def weights_put_in(log_ratio, advantages, max_ratio=5.0):
    weight = np.atleast_1d(np.exp(np.array(log_ratio, dtype=float)))
    weight[weight > max_ratio] = max_ratio
    slope = np.atleast_1d(np.array(advantages, dtype=float)) * weight
    return slope if np.ndim(log_ratio) else slope.item()


def by_a_choice(log_ratio, advantages, max_ratio=5.0):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return np.where(x > math.log(max_ratio), max_ratio * a, np.exp(x) * a)


def with_einsum(log_ratio, advantages, max_ratio=5.0):
    ratio = np.exp(np.asarray(log_ratio, dtype=float))
    capped = np.stack([ratio, np.full_like(ratio, max_ratio)]).min(0)
    return np.einsum("...,...->...", capped, np.asarray(advantages, dtype=float))


def with_scipy(log_ratio, advantages, max_ratio=5.0):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    above = np.heaviside(x - math.log(max_ratio), 1.0)
    weight = scipy.special.xlogy(1 - above, np.e) * np.exp(np.where(above, 0.0, x)) + above * max_ratio
    return weight * a
