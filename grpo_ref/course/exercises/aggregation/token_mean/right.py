"""Right answers to aggregation/token_mean in other styles."""

import math
import statistics

import numpy as np


def with_fsum(values, mask):
    tokens = []
    for row, marks in zip(values, mask, strict=True):
        tokens += [float(value) for value, mark in zip(row, marks, strict=True) if mark]
    return math.fsum(tokens) / len(tokens) if tokens else 0.0


def boolean_index(values, mask):
    tokens = np.array(values, dtype=float)[np.array(mask).astype(bool)]
    if tokens.size == 0:
        return np.float64(0)
    return tokens.mean()


def with_einsum(values, mask):
    mask = np.asarray(mask, dtype=float)
    values = np.array(values, dtype=float)
    values[mask == 0] = 0.0
    count = np.einsum("nt->", mask)
    return np.einsum("nt,nt->", values, mask) / (count if count else 1.0)


def with_where(values, mask):
    mask = np.asarray(mask) != 0
    total = np.sum(np.asarray(values, dtype=float), where=mask)
    return np.divide(total, np.count_nonzero(mask), out=np.zeros(()), where=mask.any())


def weighted_means(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask, dtype=bool)
    lengths = mask.sum(axis=1)
    means = [row[marks].sum() / max(marks.sum(), 1) for row, marks in zip(values, mask, strict=True)]
    return float(np.dot(lengths, means) / max(lengths.sum(), 1))


def masked_array(values, mask):
    hidden = np.logical_not(np.asarray(mask, dtype=bool))
    mean = np.ma.masked_array(np.asarray(values, dtype=float), mask=hidden).compressed()
    return 0 if len(mean) == 0 else statistics.fmean(mean)


def one_pass(values, mask):
    total, count = 0.0, 0
    for value, mark in zip(np.ravel(values), np.ravel(mask), strict=True):
        if mark:
            total, count = total + value, count + 1
    return np.array(total / count) if count > 0 else np.array(0.0)
