"""Right answers to kl/k3 in other styles."""

import math

import numpy as np
import scipy.special


def nested_lists(log_probs, ref_log_probs):
    if np.ndim(log_probs) > 0:
        return [nested_lists(x, y) for x, y in zip(log_probs, ref_log_probs, strict=True)]
    v = float(log_probs) - float(ref_log_probs)
    return math.expm1(-v) + v


def in_one_step(log_probs, ref_log_probs):
    u = np.asarray(ref_log_probs, dtype=float) - np.asarray(log_probs, dtype=float)
    return np.expm1(u) - u


def with_a_series(log_probs, ref_log_probs):
    v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
    small = np.where(np.abs(v) < 1e-2, v, 0.0)
    series = sum((-small) ** n / math.factorial(n) for n in range(2, 9))
    return np.where(np.abs(v) < 1e-2, series, np.exp(-v) - 1.0 + v)


def with_scipy(log_probs, ref_log_probs):
    v = np.subtract(log_probs, ref_log_probs, dtype=float)
    return v + scipy.special.expm1(-v)


def with_hyperbolic_sine(log_probs, ref_log_probs):
    v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
    return v - 2 * np.exp(-v / 2) * np.sinh(v / 2)


def token_by_token(log_probs, ref_log_probs):
    x, y = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    result = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        v = x[index] - y[index]
        half = math.expm1(-v / 2)
        result[index] = half**2 + 2 * (half + v / 2)
    return result


def extended(log_probs, ref_log_probs):
    v = np.asarray(log_probs, dtype=np.longdouble) - np.asarray(ref_log_probs, dtype=np.longdouble)
    return (np.expm1(-v) + v).astype(np.float64)
