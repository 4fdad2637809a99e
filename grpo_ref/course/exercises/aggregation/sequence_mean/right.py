"""Right answers to aggregation/sequence_mean in other styles."""

import math

import numpy as np


def with_fsum(values, mask):
    means = []
    for row, marks in zip(np.asarray(values, dtype=float), np.asarray(mask), strict=True):
        tokens = [value for value, mark in zip(row, marks, strict=True) if mark]
        means.append(math.fsum(tokens) / len(tokens) if tokens else 0.0)
    return math.fsum(means) / len(means)


def boolean_index(values, mask):
    values, mask = np.array(values, dtype=float), np.array(mask).astype(bool)
    total = 0.0
    for i in range(len(values)):
        if mask[i].any():
            total += values[i][mask[i]].mean()
    return total / len(values)


def with_einsum(values, mask):
    mask = np.asarray(mask, dtype=float)
    values = np.asarray(values, dtype=float).copy()
    values[mask == 0] = 0.0
    lengths = np.einsum("nt->n", mask)
    lengths[lengths == 0] = 1.0
    return np.einsum("nt,nt,n->", values, mask, 1.0 / lengths) / mask.shape[0]


def weights(values, mask):
    mask = np.asarray(mask).astype(float)
    share = mask / np.maximum(mask.sum(1, keepdims=True), 1.0) / len(mask)
    return np.sum(share * np.asarray(values, dtype=float), where=share > 0)


def with_where(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    sums = np.sum(values, axis=1, where=mask)
    counts = np.count_nonzero(mask, axis=1)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means.mean()


def no_axes(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask, dtype=bool)
    rows, _ = np.nonzero(mask)
    sums = np.bincount(rows, weights=values[mask], minlength=len(mask))
    counts = np.bincount(rows, minlength=len(mask))
    return np.array(np.mean(sums / np.where(counts == 0, 1, counts)))
