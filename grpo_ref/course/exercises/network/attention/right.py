"""Right answers to network/attention in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(queries, keys, values):
    if np.ndim(queries) == 3:
        return [with_fsum(q, k, v) for q, k, v in zip(queries, keys, values, strict=True)]
    root = math.sqrt(len(queries[0]))
    outputs = []
    for i, query in enumerate(queries):
        scores = []
        for key in keys[: i + 1]:
            scores.append(math.fsum(float(a) * float(b) for a, b in zip(query, key, strict=True)) / root)
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        total = math.fsum(weights)
        outputs.append(
            [
                math.fsum(weights[j] * float(values[j][d]) for j in range(i + 1)) / total
                for d in range(len(query))
            ]
        )
    return outputs


def with_einsum(queries, keys, values):
    q, k, v = np.asarray(queries, dtype=float), np.asarray(keys, dtype=float), np.asarray(values, dtype=float)
    scores = np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    later = np.triu(np.ones(scores.shape[-2:], dtype=bool), k=1)
    scores[..., later] = -np.inf
    return np.einsum("...ij,...jd->...id", scipy.special.softmax(scores, axis=-1), v)


def row_by_row(queries, keys, values):
    q, k, v = (np.array(each, dtype=float) for each in (queries, keys, values))
    outputs = np.empty(v.shape)
    for i in range(q.shape[-2]):
        scores = (k[..., : i + 1, :] * q[..., i : i + 1, :]).sum(axis=-1) / q.shape[-1] ** 0.5
        weights = np.exp(scores - scipy.special.logsumexp(scores, axis=-1, keepdims=True))
        outputs[..., i, :] = (weights[..., None] * v[..., : i + 1, :]).sum(axis=-2)
    return outputs


def keys_first(queries, keys, values):
    q = np.asarray(queries, dtype=float) * np.shape(queries)[-1] ** -0.5
    k, v = np.asarray(keys, dtype=float), np.asarray(values, dtype=float)
    scores = np.matmul(k, q.swapaxes(-1, -2))
    place = np.arange(scores.shape[-1])
    scores = scores + np.where(place[:, None] > place[None, :], -np.inf, 0.0)
    weights = np.exp(scores - np.max(scores, axis=-2, keepdims=True))
    weights = weights / np.sum(weights, axis=-2, keepdims=True)
    return np.matmul(weights.swapaxes(-1, -2), v)


def running_maximum(queries, keys, values):
    q, k, v = (np.asarray(each, dtype=float) for each in (queries, keys, values))
    tokens, size = q.shape[-2:]
    outputs = np.zeros(v.shape)
    for i in range(tokens):
        top = np.full(q.shape[:-2], -np.inf)
        total, mean = np.zeros(q.shape[:-2]), np.zeros(v[..., 0, :].shape)
        for j in range(i + 1):
            score = np.sum(q[..., i, :] * k[..., j, :], axis=-1) / np.sqrt(size)
            higher = np.maximum(top, score)
            old, new = np.exp(top - higher), np.exp(score - higher)
            total = total * old + new
            mean = mean * old[..., None] + new[..., None] * v[..., j, :]
            top = higher
        outputs[..., i, :] = mean / total[..., None]
    return outputs


def with_masked_arrays(queries, keys, values):
    q, k, v = (np.asarray(each, dtype=float) for each in (queries, keys, values))
    scores = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
    seen = np.broadcast_to(np.tril(np.ones(scores.shape[-2:])) == 1, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-np.inf)
    weights = np.exp(scores - top, where=seen, out=np.zeros(scores.shape))
    return (weights / weights.sum(axis=-1)[..., None]) @ v


def one_sequence_at_a_time(queries, keys, values):
    q, k, v = (np.asarray(each, dtype=float) for each in (queries, keys, values))
    if q.ndim > 2:
        return np.array([one_sequence_at_a_time(*each) for each in zip(q, k, v, strict=True)])
    tokens = len(q)
    scores = np.full((tokens, tokens), -np.inf)
    for i in range(tokens):
        for j in range(i + 1):
            scores[i, j] = np.dot(q[i], k[j]) / math.sqrt(q.shape[1])
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return np.dot(weights, v)
