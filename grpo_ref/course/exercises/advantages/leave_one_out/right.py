"""Right answers to advantages/leave_one_out in other styles."""

import math

import numpy as np
import scipy.linalg


def with_fsum(rewards):
    rows = []
    for row in np.asarray(rewards, dtype=float).tolist():
        if len(row) == 1:
            rows.append([0.0])
            continue
        total = math.fsum(row)
        rows.append([x - (total - x) / (len(row) - 1) for x in row])
    return rows


def with_delete(rewards):
    out = np.zeros(np.shape(rewards))
    for p, row in enumerate(rewards):
        for g in range(len(row)):
            others = np.delete(row, g)
            if others.size:
                out[p, g] = row[g] - others.mean()
    return out


def centered_and_scaled(rewards):
    r = np.asarray(rewards, dtype=float)
    size = r.shape[1]
    if size == 1:
        return np.zeros(r.shape)
    return (r - r.mean(axis=1, keepdims=True)) * size / (size - 1)


def with_a_matrix(rewards):
    r = np.asarray(rewards, dtype=float)
    size = r.shape[1]
    others = (np.ones((size, size)) - np.eye(size)) / max(size - 1, 1)
    return (r - r @ others) * (size > 1)


def mean_difference_to_the_others(rewards):
    r = np.asarray(rewards, dtype=float)
    differences = r[:, :, np.newaxis] - r[:, np.newaxis, :]
    return differences.sum(-1) / np.maximum(r.shape[1] - 1, 1)


def with_scipy(rewards):
    r = np.asarray(rewards, dtype=float)
    size = r.shape[1]
    if size < 2:
        return 0.0 * r
    first = np.r_[1.0, np.full(size - 1, -1.0 / (size - 1))]
    return np.einsum("pg,hg->ph", r, scipy.linalg.circulant(first))


def slices(rewards):
    def one(row, g):
        others = row[:g] + row[g + 1 :]
        return row[g] - sum(others) / len(others) if others else 0.0

    rows = [list(map(float, row)) for row in rewards]
    return [tuple(one(row, g) for g in range(len(row))) for row in rows]
