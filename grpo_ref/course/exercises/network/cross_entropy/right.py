"""Right answers to network/cross_entropy in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(logits, tokens, mask):
    count = sum(1 for row in mask for one in row if one)
    losses, slope = [], []
    for rows, names, marks in zip(logits, tokens, mask, strict=True):
        slope.append([])
        for row, token, mark in zip(rows, names, marks, strict=True):
            top = max(float(z) for z in row)
            weights = [math.exp(float(z) - top) for z in row]
            total = math.fsum(weights)
            if mark:
                losses.append(math.log(total) + top - float(row[token]))
                slope[-1].append([(w / total - (a == token)) / count for a, w in enumerate(weights)])
            else:
                slope[-1].append([0.0] * len(weights))
    return math.fsum(losses) / count, slope


def only_what_counts(logits, tokens, mask):
    z = np.asarray(logits, dtype=float)
    kept = np.asarray(mask).astype(bool)
    rows, names = z[kept], np.asarray(tokens)[kept]
    log_probs = scipy.special.log_softmax(rows, axis=-1)
    place = np.arange(len(rows))
    slope = np.zeros(z.shape)
    pushes = scipy.special.softmax(rows, axis=-1)
    pushes[place, names] -= 1.0
    slope[kept] = pushes / len(rows)
    return -log_probs[place, names].mean(), slope


def with_logsumexp(logits, tokens, mask):
    z, m = np.array(logits, dtype=float), np.array(mask, dtype=float)
    one_hot = np.arange(z.shape[-1]) == np.asarray(tokens)[..., None]
    normalizer = scipy.special.logsumexp(z, axis=-1)
    losses = normalizer - np.sum(np.where(one_hot, z, 0.0), axis=-1)
    slope = np.exp(z - normalizer[..., None]) - one_hot
    return np.average(losses, weights=m), slope * (m / np.sum(m))[..., None]


def flat(logits, tokens, mask):
    z = np.asarray(logits, dtype=float)
    rows = z.reshape(-1, z.shape[-1])
    names, m = np.ravel(tokens), np.ravel(mask).astype(float)
    log_probs = rows - np.logaddexp.reduce(rows, axis=1, keepdims=True)
    slope = np.exp(log_probs)
    slope[np.arange(len(rows)), names] -= 1.0
    slope = slope * m[:, None] / m.sum()
    loss = -np.dot(m, log_probs[np.arange(len(rows)), names]) / m.sum()
    return float(loss), slope.reshape(z.shape)


def with_einsum(logits, tokens, mask):
    z, m = np.asarray(logits, dtype=float), np.asarray(mask, dtype=float)
    hot = np.eye(z.shape[-1])[np.asarray(tokens)]
    weights = np.exp(z - np.max(z, axis=-1)[..., None])
    total = np.einsum("btv->bt", weights)
    apart = np.max(z, axis=-1) + np.log(total) - np.einsum("btv,btv->bt", z, hot)
    probs = np.einsum("btv,bt->btv", weights, 1.0 / total)
    return [np.einsum("bt,bt->", apart, m) / m.sum(), np.einsum("btv,bt->btv", probs - hot, m) / m.sum()]


def place_by_place(logits, tokens, mask):
    z, m = np.asarray(logits, dtype=float), np.asarray(mask, dtype=float)
    slope, loss = np.zeros_like(z), 0.0
    for place in np.argwhere(m):
        row, token = z[tuple(place)], np.asarray(tokens)[tuple(place)]
        probs = scipy.special.softmax(row)
        loss += scipy.special.logsumexp(row - row[token])
        slope[tuple(place)] = probs
        slope[(*place, token)] -= 1.0
    return np.float64(loss / m.sum()), slope / m.sum()


def odds_against(logits, tokens, mask):
    z, m = np.asarray(logits, dtype=float), np.asarray(mask, dtype=float)
    picked = np.take_along_axis(z, np.asarray(tokens)[..., np.newaxis], axis=-1)
    apart = z - picked
    top = apart.max(axis=-1, keepdims=True)
    total = np.exp(apart - top).sum(axis=-1, keepdims=True)
    losses = (np.log(total) + top)[..., 0]
    slope = np.exp(apart - top) / total
    np.put_along_axis(
        slope,
        np.asarray(tokens)[..., np.newaxis],
        np.take_along_axis(slope, np.asarray(tokens)[..., np.newaxis], axis=-1) - 1.0,
        axis=-1,
    )
    shares = m / np.count_nonzero(m)
    return (losses * shares).sum(), slope * shares[:, :, np.newaxis]


def with_log1p(logits, tokens, mask):
    z, m = np.asarray(logits, dtype=float), np.asarray(mask, dtype=float)
    top = z.argmax(-1)[..., None]
    shifted = z - np.take_along_axis(z, top, -1)
    others = np.exp(shifted)
    np.put_along_axis(others, top, 0.0, -1)
    log_probs = shifted - np.log1p(others.sum(-1, keepdims=True))
    one_hot = np.eye(z.shape[-1])[np.asarray(tokens)]
    weights = (m / m.sum())[..., None]
    loss = -np.where(weights * one_hot > 0, weights * log_probs, 0.0).sum()
    return loss, weights * (np.exp(log_probs) - one_hot)
