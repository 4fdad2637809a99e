"""Right answers to `ratios/sapo` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    value, slope = np.empty(r.shape), np.empty(r.shape)
    for i in np.ndindex(r.shape):
        tau = tau_positive if a[i] > 0 else tau_negative
        fading = math.exp(-tau * (r[i] - 1))
        value[i] = 4 / tau * a[i] / (1 + fading)
        slope[i] = 4 * fading / (1 + fading) ** 2 * r[i] * a[i]
    return value, slope


def with_expit(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.where(a > 0, tau_positive, tau_negative)
    x = tau * (r - 1)
    p, q = scipy.special.expit(x), scipy.special.expit(-x)
    return 4 * p * a / tau, 4 * p * q * r * a


def nested_lists(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    if np.ndim(ratio):
        pairs = zip(ratio, advantages, strict=True)
        both = [nested_lists(r, a, tau_positive, tau_negative) for r, a in pairs]
        return [value for value, _ in both], [slope for _, slope in both]
    tau = tau_negative
    if advantages > 0:
        tau = tau_positive
    x = tau * (ratio - 1)
    gate, rest = 1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x))
    return 4 / tau * gate * advantages, 4 * gate * rest * ratio * advantages


def hyperbolic(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.where(a > 0, tau_positive, tau_negative)
    half = tau * (r - 1) / 2
    return 2 / tau * (1 + np.tanh(half)) * a, r * a / np.cosh(half) ** 2


def in_log_space(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.where(a > 0, tau_positive, tau_negative)
    x = tau * (r - 1)
    log_p, log_q = -np.logaddexp(0, -x), -np.logaddexp(0, x)
    return 4 / tau * np.exp(log_p) * a, 4 * np.exp(log_p + log_q) * r * a


def good_and_bad_apart(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    def gated(r, a, tau):
        fading = np.exp(-abs(tau * (r - 1)))
        gate = np.where(r > 1, 1, fading) / (1 + fading)
        return np.stack([4 / tau * gate * a, 4 * fading / (1 + fading) ** 2 * r * a])

    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    total = gated(r, np.maximum(a, 0), tau_positive) + gated(r, np.minimum(a, 0), tau_negative)
    return total[0], total[1]


def by_the_powers_of_the_rest(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    tau = np.full(r.shape, tau_negative, dtype=float)
    tau[a > 0] = tau_positive
    growth = np.exp(tau * (r - 1))
    rest = 1 / (1 + growth)
    value = 4 / tau * growth * rest * a
    return value, tau * value * rest * r
