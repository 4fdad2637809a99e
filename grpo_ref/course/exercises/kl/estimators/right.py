"""Right answers to kl/estimators in other styles."""

import math

import numpy as np


def nested_lists(log_probs, ref_log_probs):
    if np.ndim(log_probs) == 0:
        v = float(log_probs) - float(ref_log_probs)
        return v, 0.5 * math.pow(v, 2)
    pairs = [nested_lists(x, y) for x, y in zip(log_probs, ref_log_probs, strict=True)]
    return [k1 for k1, _ in pairs], [k2 for _, k2 in pairs]


def with_subtract(log_probs, ref_log_probs):
    k1 = np.subtract(log_probs, ref_log_probs, dtype=np.float64)
    return [k1, np.square(k1) / 2]


def with_einsum(log_probs, ref_log_probs):
    v = np.array(log_probs, dtype=float)
    v = v - np.array(ref_log_probs, dtype=float)
    return v, np.einsum("...,...->...", v, v) * 0.5


def one_by_one(log_probs, ref_log_probs):
    x, y = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    k1, k2 = np.zeros(x.shape), np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        k1[index] = x[index] - y[index]
        k2[index] = abs(k1[index]) ** 2 / 2
    return k1, k2


def expanded_about_the_reference(log_probs, ref_log_probs):
    v = -(np.asarray(ref_log_probs, dtype=float) - np.asarray(log_probs, dtype=float))
    return v, np.where(v < 0, -v, v) * np.abs(v) / 2.0


def stacked(log_probs, ref_log_probs):
    v = np.diff(
        np.stack([np.asarray(ref_log_probs, dtype=float), np.asarray(log_probs, dtype=float)]), axis=0
    )[0]
    return tuple(np.stack([v, v**2 * 0.5]))


def vectorized(log_probs, ref_log_probs):
    square = np.vectorize(lambda v: v * v / 2, otypes=[float])
    v = np.asarray(log_probs) * 1.0 - np.asarray(ref_log_probs) * 1.0
    return (v, square(v))
