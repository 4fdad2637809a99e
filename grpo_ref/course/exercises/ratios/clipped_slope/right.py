"""Right answers to `ratios/clipped_slope` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    slopes = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        r = math.exp(x[i])
        if a[i] > 0 and r > 1 + clip_high:
            slopes[i] = 0.0
        elif a[i] < 0 and r < 1 - clip_low:
            slopes[i] = 0.0
        else:
            slopes[i] = r * a[i]
    return slopes


def comparing_the_branches(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.exp(np.asarray(log_ratio, dtype=float)), np.asarray(advantages, dtype=float)
    free, held = r * a, np.clip(r, 1 - clip_low, 1 + clip_high) * a
    return np.where(free <= held, free, 0.0)


def in_log_space(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    good = (a > 0) & (x <= np.log(1 + clip_high))
    bad = (a < 0) & (x >= np.log(1 - clip_low))
    return (good | bad) * np.exp(x) * a


def nested_lists(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    if np.ndim(log_ratio):
        pairs = zip(log_ratio, advantages, strict=True)
        return [nested_lists(x, a, clip_low, clip_high) for x, a in pairs]
    moved = math.expm1(log_ratio)
    far = moved > clip_high if advantages > 0 else -moved > clip_low
    return 0.0 if far and advantages else math.exp(log_ratio) * advantages


def zeros_put_in(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    ratio = np.atleast_1d(np.exp(np.array(log_ratio, dtype=float)))
    weight = np.atleast_1d(np.array(advantages, dtype=float))
    slope = weight * ratio
    slope[(weight > 0) & (ratio > 1 + clip_high)] = 0
    slope[(weight < 0) & (ratio < 1 - clip_low)] = 0
    return slope if np.ndim(log_ratio) else slope[0]


def by_the_sign(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    r, a = np.exp(np.asarray(log_ratio, dtype=float)), np.asarray(advantages, dtype=float)
    up = np.where(r <= 1 + clip_high, r, 0.0) * np.maximum(a, 0.0)
    down = np.where(r >= 1 - clip_low, r, 0.0) * np.minimum(a, 0.0)
    return up + down


def with_scipy(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    x, a = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    beyond = np.where(a > 0, np.exp(x) - (1 + clip_high), (1 - clip_low) - np.exp(x))
    gate = 1 - np.heaviside(beyond, 0.0)
    return scipy.special.xlog1py(gate * a, np.expm1(1.0)) * np.exp(x)
