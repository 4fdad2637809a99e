"""Right answers to `probabilities/sampling` in other styles."""

import bisect
import itertools
import math

import numpy as np


def running_sum(probs, uniforms):
    tokens = []
    for row, u in zip(probs, uniforms, strict=True):
        total, last = 0.0, 0
        for token, p in enumerate(row):
            total += p
            if p > 0:
                last = token
            if total > u:
                break
        tokens.append(last)
    return tokens


def with_bisect(probs, uniforms):
    tokens = []
    for row, u in zip(np.asarray(probs).tolist(), np.asarray(uniforms).tolist(), strict=True):
        possible = [token for token, p in enumerate(row) if p > 0]
        sums = list(itertools.accumulate(row[token] for token in possible))
        tokens.append(possible[min(bisect.bisect_right(sums, u), len(possible) - 1)])
    return np.array(tokens)


def with_searchsorted(probs, uniforms):
    p = np.asarray(probs, dtype=float)
    tokens = np.zeros(len(p), dtype=np.int64)
    for n, (row, u) in enumerate(zip(p, uniforms, strict=True)):
        token = min(np.searchsorted(np.cumsum(row), u, side="right"), row.size - 1)
        while row[token] == 0:
            token -= 1
        tokens[n] = token
    return tokens


def divided_by_the_last_sum(probs, uniforms):
    sums = np.cumsum(np.asarray(probs, dtype=float), axis=1)
    sums /= sums[:, -1:]
    return np.argmax(sums > np.reshape(uniforms, (-1, 1)), axis=1)


def infinite_at_the_end(probs, uniforms):
    p, u = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    sums = np.cumsum(p, axis=-1)
    sums = np.where(sums == sums[:, -1:], np.inf, sums)
    return np.sum(sums <= u[:, np.newaxis], axis=-1)


def a_triangle(probs, uniforms):
    p, u = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    sums = np.stack([p[:, : token + 1].sum(axis=1) for token in range(p.shape[1])], axis=1)
    is_sampled = (sums > u[:, None]) & (p > 0)
    last = np.array([np.flatnonzero(row)[-1] for row in p])
    return np.where(is_sampled.any(axis=1), is_sampled.argmax(axis=1), last)


def with_fsum(probs, uniforms):
    def one(row, u):
        for token in range(len(row)):
            if math.fsum(row[: token + 1]) > u:
                return token
        return int(max(np.flatnonzero(row)))

    return [one(row, u) for row, u in zip(np.asarray(probs), np.asarray(uniforms), strict=True)]
