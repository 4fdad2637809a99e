"""Right answers to network/attention_slope in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(queries, keys, values, slope):
    if np.ndim(queries) == 3:
        each = [with_fsum(*one) for one in zip(queries, keys, values, slope, strict=True)]
        return tuple([one[part] for one in each] for part in range(3))
    tokens, size = len(queries), len(queries[0])
    root = math.sqrt(size)
    q, k, v, g = ([[float(x) for x in row] for row in each] for each in (queries, keys, values, slope))
    dq, dk, dv = ([[0.0] * size for _ in range(tokens)] for _ in range(3))
    for i in range(tokens):
        scores = [math.fsum(a * b for a, b in zip(q[i], k[j], strict=True)) / root for j in range(i + 1)]
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        total = math.fsum(weights)
        weights = [weight / total for weight in weights]
        heard = [math.fsum(a * b for a, b in zip(g[i], v[j], strict=True)) for j in range(i + 1)]
        for j in range(i + 1):
            apart = math.fsum(weights[m] * (heard[j] - heard[m]) for m in range(i + 1))
            push = weights[j] * apart / root
            for d in range(size):
                dq[i][d] += push * k[j][d]
                dk[j][d] += push * q[i][d]
                dv[j][d] += weights[j] * g[i][d]
    return dq, dk, dv


def with_einsum(queries, keys, values, slope):
    q, k, v, g = (np.asarray(each, dtype=float) for each in (queries, keys, values, slope))
    scores = np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), k=1)] = -np.inf
    weights = scipy.special.softmax(scores, axis=-1)
    outputs = np.einsum("...ij,...jd->...id", weights, v)
    apart = np.einsum("...id,...jd->...ij", g, v) - np.einsum("...id,...id->...i", g, outputs)[..., None]
    pushes = weights * apart
    dq = np.einsum("...ij,...jd->...id", pushes, k) / math.sqrt(q.shape[-1])
    dk = np.einsum("...ij,...id->...jd", pushes, q) / math.sqrt(q.shape[-1])
    return dq, dk, np.einsum("...ij,...id->...jd", weights, g)


def with_a_jacobian(queries, keys, values, slope):
    q, k, v, g = (np.asarray(each, dtype=float) for each in (queries, keys, values, slope))
    if q.ndim == 3:
        each = [with_a_jacobian(*one) for one in zip(q, k, v, g, strict=True)]
        return tuple(np.stack([one[part] for one in each]) for part in range(3))
    tokens, size = q.shape
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for i in range(tokens):
        seen = slice(0, i + 1)
        weights = scipy.special.softmax(k[seen] @ q[i] / np.sqrt(size))
        jacobian = np.diag(weights) - np.outer(weights, weights)
        pushes = jacobian @ (v[seen] @ g[i]) / np.sqrt(size)
        dq[i] = pushes @ k[seen]
        dk[seen] += np.outer(pushes, q[i])
        dv[seen] += np.outer(weights, g[i])
    return dq, dk, dv


def delta_from_the_outputs(queries, keys, values, slope):
    q, k, v, g = (np.asarray(each, dtype=float) for each in (queries, keys, values, slope))
    scale = q.shape[-1] ** -0.5
    scaled = q * scale
    scores = np.matmul(k, scaled.swapaxes(-1, -2))
    place = np.arange(scores.shape[-1])
    scores = scores + np.where(place[:, None] > place, -np.inf, 0.0)
    weights = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = weights / weights.sum(axis=-2, keepdims=True)
    outputs = np.matmul(weights.swapaxes(-1, -2), v)
    pushes = weights * (np.matmul(v, g.swapaxes(-1, -2)) - (g * outputs).sum(axis=-1)[..., None, :])
    return scale * np.matmul(pushes.swapaxes(-1, -2), k), np.matmul(pushes, scaled), np.matmul(weights, g)


def row_by_row(queries, keys, values, slope):
    q, k, v, g = (np.array(each, dtype=float) for each in (queries, keys, values, slope))
    dq, dk, dv = np.empty(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for i in range(q.shape[-2]):
        scores = (k[..., : i + 1, :] * q[..., i : i + 1, :]).sum(axis=-1) / math.sqrt(q.shape[-1])
        weights = np.exp(scores - scipy.special.logsumexp(scores, axis=-1, keepdims=True))[..., None]
        heard = (v[..., : i + 1, :] * g[..., i : i + 1, :]).sum(axis=-1, keepdims=True)
        average = (weights * heard).sum(axis=-2, keepdims=True)
        pushes = weights * (heard - average) / math.sqrt(q.shape[-1])
        dq[..., i, :] = (pushes * k[..., : i + 1, :]).sum(axis=-2)
        dk[..., : i + 1, :] += pushes * q[..., i : i + 1, :]
        dv[..., : i + 1, :] += weights * g[..., i : i + 1, :]
    return dq, dk, dv


def one_sequence_at_a_time(queries, keys, values, slope):
    q, k, v, g = (np.asarray(each, dtype=float) for each in (queries, keys, values, slope))
    if q.ndim > 2:
        parts = [one_sequence_at_a_time(*each) for each in zip(q, k, v, g, strict=True)]
        return [np.array(part) for part in zip(*parts, strict=True)]
    root = np.sqrt(len(q[0]))
    scores = np.where(np.tril(np.ones((len(q), len(q)))) == 1, q.dot(k.T) / root, -np.inf)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    heard = g.dot(v.T)
    pushes = weights * heard - weights * np.diag(weights.dot(heard.T))[:, None]
    return [pushes.dot(k) / root, pushes.T.dot(q) / root, weights.T.dot(g)]
