"""Right answers to aggregation/group_token_mean in other styles."""

import math
import statistics

import numpy as np


def with_fsum(values, mask):
    means = []
    for group, marks in zip(values, mask, strict=True):
        tokens = []
        for row, row_marks in zip(group, marks, strict=True):
            tokens += [float(value) for value, mark in zip(row, row_marks, strict=True) if mark]
        means.append(math.fsum(tokens) / len(tokens) if tokens else 0.0)
    return math.fsum(means) / len(means)


def boolean_index(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask).astype(bool)
    means = [group[marks].mean() if marks.any() else 0.0 for group, marks in zip(values, mask, strict=True)]
    return np.mean(means)


def with_einsum(values, mask):
    mask = np.asarray(mask, dtype=float)
    values = np.array(values, dtype=float)
    values[mask == 0] = 0.0
    count = np.einsum("pgt->p", mask)
    return np.einsum("pgt,p->", values, 1.0 / np.where(count == 0, 1.0, count)) / len(mask)


def with_weights(values, mask):
    mask = np.asarray(mask) != 0
    tokens = np.sum(mask, axis=(-2, -1), keepdims=True)
    weights = mask / (np.clip(tokens, 1, None) * mask.shape[0])
    return np.sum(weights * np.nan_to_num(np.asarray(values, dtype=float)), where=mask)


def flattened(values, mask):
    values, mask = np.asarray(values, dtype=float), np.asarray(mask, dtype=bool)
    values, mask = values.reshape(len(values), -1), mask.reshape(len(mask), -1)
    sums = np.sum(values, axis=-1, where=mask)
    counts = np.count_nonzero(mask, axis=-1)
    means = np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0)
    return float(means.sum() / means.size)


def masked_array(values, mask):
    hidden = np.logical_not(np.asarray(mask, dtype=bool))
    shown = np.ma.masked_array(np.asarray(values, dtype=float), mask=hidden)
    means = [group.compressed() for group in shown]
    return statistics.fmean(statistics.fmean(group) if group.size else 0.0 for group in means)


def one_pass(values, mask):
    result, prompts = 0.0, len(values)
    for group, marks in zip(np.asarray(values, dtype=float), np.asarray(mask), strict=True):
        total, count = 0.0, 0
        for value, mark in zip(group.ravel(), marks.ravel(), strict=True):
            if mark:
                total, count = total + value, count + 1
        if count:
            result += total / count / prompts
    return np.array(result)
