"""Right answers to `ratios/sequence_ratio` in other styles."""

import math

import numpy as np
import scipy.special


def with_a_loop(log_ratio, mask):
    ratios = []
    for row, real in zip(log_ratio, mask, strict=True):
        tokens = [x for x, m in zip(row, real, strict=True) if m]
        ratios.append(math.exp(math.fsum(tokens) / len(tokens)))
    return ratios


def tokens_picked_out(log_ratio, mask):
    x, m = np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=bool)
    return np.array([np.exp(x[i][m[i]].mean()) for i in range(len(x))])


def mean_with_where(log_ratio, mask):
    x, m = np.asarray(log_ratio, dtype=float), np.asarray(mask) != 0
    return np.exp(np.mean(x, axis=1, where=m))


def with_nanmean(log_ratio, mask):
    tokens = np.where(np.asarray(mask) > 0, np.asarray(log_ratio, dtype=float), np.nan)
    return np.exp(np.nanmean(tokens, axis=-1))


def product_of_roots(log_ratio, mask):
    m = np.asarray(mask, dtype=float)
    x = np.where(m > 0, log_ratio, 0.0)
    length = m.sum(-1, keepdims=True)
    return np.exp(np.sum(x / length, axis=-1))


def with_einsum(log_ratio, mask):
    weights = np.array(mask, dtype=float)
    weights /= weights.sum(axis=1)[:, np.newaxis]
    x = np.array(log_ratio, dtype=float)
    x[weights == 0] = 0.0
    return np.exp(np.einsum("nt,nt->n", x, weights))


def running_total(log_ratio, mask):
    m = np.asarray(mask, dtype=float)
    total, count = np.zeros(len(m)), np.zeros(len(m))
    for t in range(m.shape[1]):
        column = np.array([row[t] for row in log_ratio], dtype=float)
        total = total + np.where(m[:, t] == 1, column, 0.0)
        count = count + m[:, t]
    return np.exp(total / count)


def with_scipy(log_ratio, mask):
    m = np.asarray(mask, dtype=float)
    x = np.where(m > 0, np.asarray(log_ratio, dtype=float), 0.0)
    return np.exp(scipy.special.xlogy(x, np.e).sum(axis=-1) / np.count_nonzero(m, axis=-1))


def with_a_masked_array(log_ratio, mask):
    padding = np.logical_not(np.asarray(mask))
    tokens = np.ma.masked_array(np.asarray(log_ratio, dtype=float), padding)
    return np.exp(np.asarray(tokens.mean(axis=1)))
