"""Right answers to `ratios/token_ratio` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(log_probs, old_log_probs, mask):
    ratios = np.ones(np.shape(mask))
    for i, row in enumerate(mask):
        for t, real in enumerate(row):
            if real:
                ratios[i, t] = math.exp(log_probs[i][t] - old_log_probs[i][t])
    return ratios


def tokens_picked_out(log_probs, old_log_probs, mask):
    new, old = np.asarray(log_probs, dtype=float), np.asarray(old_log_probs, dtype=float)
    real = np.asarray(mask, dtype=bool)
    out = np.ones(new.shape)
    out[real] = np.exp(new[real] - old[real])
    return out


def nested_lists(log_probs, old_log_probs, mask):
    def ratio(new, old, real):
        return math.exp(new - old) if real else 1.0

    rows = zip(log_probs, old_log_probs, mask, strict=True)
    return [[ratio(*token) for token in zip(*row, strict=True)] for row in rows]


def a_list_of_arrays(log_probs, old_log_probs, mask):
    ratios = []
    for new, old, real in zip(log_probs, old_log_probs, mask, strict=True):
        change = np.subtract(new, old, dtype=float)
        change[np.asarray(real) == 0] = 0.0
        ratios.append(np.exp(change))
    return ratios


def difference_first(log_probs, old_log_probs, mask):
    change = np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float)
    return np.exp(np.where(np.asarray(mask) != 0, change, 0.0))


def with_a_masked_array(log_probs, old_log_probs, mask):
    padding = ~np.asarray(mask, dtype=bool)
    change = np.ma.masked_array(np.subtract(log_probs, old_log_probs), mask=padding)
    return np.exp(change.filled(0.0))


def powers_of_two(log_probs, old_log_probs, mask):
    change = np.array(log_probs, dtype=float)
    change -= np.asarray(old_log_probs, dtype=float)
    change[~np.asarray(mask, dtype=bool)] = 0.0
    return 2.0 ** (change / np.log(2.0))


def with_scipy(log_probs, old_log_probs, mask):
    new, old = np.asarray(log_probs, dtype=float), np.asarray(old_log_probs, dtype=float)
    half = scipy.special.logsumexp(np.stack([(new - old) / 2, (new - old) / 2]), axis=0) - np.log(2.0)
    return np.where(np.asarray(mask) == 1, np.exp(half) * np.exp(half), 1.0)
