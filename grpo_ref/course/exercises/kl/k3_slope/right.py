"""Right answers to kl/k3_slope in other styles."""

import math

import numpy as np
import scipy.special


def nested_lists(log_probs, ref_log_probs):
    if np.ndim(log_probs) > 0:
        return [nested_lists(x, y) for x, y in zip(log_probs, ref_log_probs, strict=True)]
    return -math.expm1(float(ref_log_probs) - float(log_probs))


def in_one_step(log_probs, ref_log_probs):
    return -np.expm1(np.asarray(ref_log_probs, dtype=float) - np.asarray(log_probs, dtype=float))


def with_hyperbolic_sine(log_probs, ref_log_probs):
    half = (np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)) / 2
    return 2 * np.sinh(half) * np.exp(-half)


def with_scipy(log_probs, ref_log_probs):
    return np.negative(scipy.special.expm1(np.subtract(ref_log_probs, log_probs, dtype=float)))


def with_a_series(log_probs, ref_log_probs):
    v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
    small = np.where(np.abs(v) < 1e-2, v, 0.0)
    series = sum(-((-small) ** n) / math.factorial(n) for n in range(1, 8))
    return np.where(np.abs(v) < 1e-2, series, 1.0 - np.exp(-v))


def by_hyperbolic_tangent(log_probs, ref_log_probs):
    v = np.array(log_probs, dtype=float)
    v = v - np.array(ref_log_probs, dtype=float)
    return np.tanh(v / 2) * (1 + np.exp(-v))


def token_by_token(log_probs, ref_log_probs):
    x, y = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    flat = [-math.expm1(b - a) for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return np.array(flat).reshape(x.shape)
