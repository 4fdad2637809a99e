"""Right answers to `ratios/dual_clip` in other styles."""

import numpy as np
import scipy.special


def with_a_loop(ratio, advantages, clip=0.2, max_ratio=3.0):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    out = np.zeros(r.shape)
    for i in np.ndindex(r.shape):
        s = min(r[i] * a[i], max(1 - clip, min(r[i], 1 + clip)) * a[i])
        if a[i] < 0:
            s = max(s, max_ratio * a[i])
        out[i] = s
    return out


def ratio_held_by_the_sign(ratio, advantages, clip=0.2, max_ratio=3.0):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    good = np.minimum(r, 1 + clip)
    bad = np.clip(r, 1 - clip, max_ratio)
    return np.where(a > 0, good, bad) * a


def nested_lists(ratio, advantages, clip=0.2, max_ratio=3.0):
    if np.ndim(ratio):
        pairs = zip(ratio, advantages, strict=True)
        return [nested_lists(r, a, clip, max_ratio) for r, a in pairs]
    if advantages >= 0:
        return min(ratio, 1 + clip) * advantages
    return min(max(ratio, 1 - clip), max_ratio) * advantages


def infinite_floor(ratio, advantages, clip=0.2, max_ratio=3.0):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    s = np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a)
    floor = np.where(a < 0, max_ratio * a, -np.inf)
    return np.maximum(s, floor)


def bad_tokens_picked_out(ratio, advantages, clip=0.2, max_ratio=3.0):
    r = np.array(ratio, dtype=float, ndmin=1)
    a = np.array(advantages, dtype=float, ndmin=1)
    value = np.minimum(r * a, r.clip(1 - clip, 1 + clip) * a)
    bad = a < 0
    value[bad] = np.maximum(value[bad], max_ratio * a[bad])
    return value if np.ndim(ratio) else value[0]


def two_halves(ratio, advantages, clip=0.2, max_ratio=3.0):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    gain, cost = np.maximum(a, 0.0), np.maximum(-a, 0.0)
    return gain * np.minimum(r, 1 + clip) - cost * np.minimum(np.maximum(r, 1 - clip), max_ratio)


def with_select(ratio, advantages, clip=0.2, max_ratio=3.0):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    cases = [(a > 0) & (r > 1 + clip), (a < 0) & (r > max_ratio), (a < 0) & (r < 1 - clip)]
    held = np.select(cases, [1 + clip, max_ratio, 1 - clip], r)
    return scipy.special.xlogy(held * a, np.e)
