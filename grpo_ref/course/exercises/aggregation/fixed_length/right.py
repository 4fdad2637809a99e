"""Right answers to aggregation/fixed_length in other styles."""

import math

import numpy as np


def _check(max_length):
    if max_length < 1:
        raise ValueError("max_length must be at least 1")


def with_fsum(values, mask, max_length):
    _check(max_length)
    shares = []
    for row, marks in zip(values, mask, strict=True):
        shares.append(math.fsum(float(v) for v, m in zip(row, marks, strict=True) if m) / max_length)
    return math.fsum(shares) / len(shares)


def boolean_index(values, mask, max_length):
    _check(max_length)
    tokens = np.array(values, dtype=float)[np.array(mask).astype(bool)]
    return tokens.sum() / max_length / len(mask)


def with_einsum(values, mask, max_length):
    if not max_length >= 1:
        raise ValueError(max_length)
    mask = np.asarray(mask, dtype=float)
    values = np.array(values, dtype=float)
    values[mask == 0] = 0.0
    return np.einsum("nt,nt->n", values, mask).mean() / max_length


def weights(values, mask, max_length):
    _check(max_length)
    present = np.asarray(mask) > 0
    weight = present / (present.shape[0] * max_length)
    return np.float64(np.sum(weight * np.asarray(values, dtype=float), where=present))


def means_of_rows(values, mask, max_length):
    _check(max_length)
    values, mask = np.asarray(values, dtype=float), np.asarray(mask, dtype=bool)
    total = 0.0
    for row, marks in zip(values, mask, strict=True):
        if marks.any():
            total += row[marks].mean() * marks.sum() / max_length
    return np.array(total / len(values))


def masked_array(values, mask, max_length):
    if int(max_length) <= 0:
        raise ValueError("no budget")
    hidden = ~np.asarray(mask, dtype=bool)
    sums = np.ma.masked_array(np.asarray(values, dtype=float), mask=hidden).filled(0).sum(axis=1)
    return np.average(sums) / max_length
