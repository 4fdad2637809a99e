"""Right answers to network/imitation_step in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(embeddings, weight, tokens, mask, learning_rate):
    table = [[float(number) for number in row] for row in embeddings]
    matrix = [[float(number) for number in row] for row in weight]
    size, count = range(len(matrix)), sum(1 for marks in mask for mark in list(marks)[1:] if mark)
    changes = [[[] for _ in row] for row in table]
    of_weight = [[[] for _ in size] for _ in size]
    losses = []
    for names, marks in zip(tokens, mask, strict=True):
        for place in range(1, len(names)):
            if not marks[place]:
                continue
            read, due = int(names[place - 1]), int(names[place])
            h = [math.tanh(math.fsum(table[read][c] * matrix[c][d] for c in size)) for d in size]
            z = [math.fsum(row[d] * h[d] for d in size) for row in table]
            top = max(z)
            powers = [math.exp(number - top) for number in z]
            total = math.fsum(powers)
            losses.append(math.log(total) + top - z[due])
            g = [power / total - (a == due) for a, power in enumerate(powers)]
            inner = [
                math.fsum(g[a] * table[a][d] for a in range(len(table))) * (1 - h[d] * h[d]) for d in size
            ]
            for a in range(len(table)):
                for d in size:
                    changes[a][d].append(g[a] * h[d])
            for c in size:
                changes[read][c].append(math.fsum(inner[d] * matrix[c][d] for d in size))
                for d in size:
                    of_weight[c][d].append(table[read][c] * inner[d])
    rate = learning_rate / max(count, 1)
    moved = [
        [x - rate * math.fsum(c) for x, c in zip(*rows, strict=True)]
        for rows in zip(table, changes, strict=True)
    ]
    turned = [
        [x - rate * math.fsum(c) for x, c in zip(*rows, strict=True)]
        for rows in zip(matrix, of_weight, strict=True)
    ]
    return moved, turned, math.fsum(losses) / max(count, 1)


def with_one_hot_products(embeddings, weight, tokens, mask, learning_rate):
    e, w, t = np.array(embeddings, dtype=float), np.array(weight, dtype=float), np.array(tokens)
    m = np.array(mask, dtype=float)[:, 1:].reshape(-1, 1)
    shares = m / m.sum() if m.any() else m
    eye = np.eye(e.shape[0])
    x, y = eye[t[:, :-1].reshape(-1)], eye[t[:, 1:].reshape(-1)]
    h = np.tanh(x @ e @ w)
    log_probs = scipy.special.log_softmax(h @ e.T, axis=1)
    g = shares * (np.exp(log_probs) - y)
    inner = (g @ e) * (1 - h) * (1 + h)
    of_e = g.T @ h + x.T @ (inner @ w.T)
    of_w = (x @ e).T @ inner
    return e - learning_rate * of_e, w - learning_rate * of_w, -np.sum(shares * log_probs * y)


def by_pairs_of_tokens(embeddings, weight, tokens, mask, learning_rate):
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    counted = np.asarray(mask)[:, 1:].astype(bool)
    pairs = np.zeros((len(e), len(e)))
    np.add.at(pairs, (t[:, :-1][counted], t[:, 1:][counted]), 1.0)
    pairs /= max(pairs.sum(), 1.0)
    h = np.tanh(e @ w)
    z = h @ e.T
    normalizer = scipy.special.logsumexp(z, axis=1, keepdims=True)
    g = pairs.sum(axis=1, keepdims=True) * np.exp(z - normalizer) - pairs
    inner = (g @ e) * (1.0 - np.square(h))
    new_e = e - learning_rate * (np.transpose(g) @ h + inner @ np.transpose(w))
    new_w = w - learning_rate * (np.transpose(e) @ inner)
    return new_e, new_w, float((pairs * (normalizer - z)).sum())


def text_by_text(embeddings, weight, tokens, mask, learning_rate):
    e, w = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float)
    count = max(np.count_nonzero(np.asarray(mask)[:, 1:]), 1)
    of_e, of_w, loss = np.zeros_like(e), np.zeros_like(w), 0.0
    for text, marks in zip(np.asarray(tokens), np.asarray(mask), strict=True):
        for read, due, mark in zip(text, text[1:], marks[1:], strict=False):
            if mark:
                h = np.tanh(e[read] @ w)
                z = e @ h
                probs = scipy.special.softmax(z)
                loss += scipy.special.logsumexp(z) - z[due]
                probs[due] -= 1.0
                of_e += np.outer(probs, h)
                inner = (probs @ e) * (1.0 - h * h)
                of_e[read] += w @ inner
                of_w += np.outer(e[read], inner)
    return e - learning_rate * of_e / count, w - learning_rate * of_w / count, loss / count


def with_einsum(embeddings, weight, tokens, mask, learning_rate):
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    m = np.asarray(mask, dtype=float).copy()
    m[:, 0] = 0.0
    shares = (m / np.maximum(m.sum(), 1.0))[:, 1:]
    rows = e[t][:, :-1]
    h = np.tanh(np.einsum("btc,cd->btd", rows, w))
    z = np.einsum("vd,btd->btv", e, h)
    z = z - np.max(z, axis=-1, keepdims=True)
    log_probs = z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))
    hot = (np.arange(len(e)) == t[:, 1:, None]).astype(float)
    g = np.einsum("bt,btv->btv", shares, np.exp(log_probs) - hot)
    inner = np.einsum("btv,vd,btd->btd", g, e, 1.0 - h**2)
    before = (np.arange(len(e)) == t[:, :-1, None]).astype(float)
    of_e = np.einsum("btv,btd->vd", g, h) + np.einsum("btv,btd,cd->vc", before, inner, w)
    of_w = np.einsum("btc,btd->cd", rows, inner)
    return (
        e - learning_rate * of_e,
        w - learning_rate * of_w,
        -np.einsum("bt,btv,btv->", shares, log_probs, hot),
    )


def only_what_counts(embeddings, weight, tokens, mask, learning_rate):
    e, w, t = np.array(embeddings, dtype=float), np.array(weight, dtype=float), np.asarray(tokens)
    kept = np.asarray(mask)[:, 1:] == 1
    if not kept.any():
        return e, w, 0.0
    before, after = t[:, :-1][kept], t[:, 1:][kept]
    place = np.arange(before.size)
    h = np.tanh(np.dot(e[before], w))
    z = np.dot(h, e.T)
    log_probs = z - np.logaddexp.reduce(z, axis=1)[:, np.newaxis]
    g = np.exp(log_probs)
    g[place, after] -= 1.0
    g /= before.size
    inner = np.dot(g, e) / np.cosh(np.dot(e[before], w)) ** 2
    of_e = np.dot(g.T, h)
    back = np.dot(inner, w.T)
    for token in range(len(e)):
        of_e[token] += back[before == token].sum(axis=0)
    of_w = np.dot(e[before].T, inner)
    return e - learning_rate * of_e, w - learning_rate * of_w, -log_probs[place, after].mean()


def by_the_jacobian(embeddings, weight, tokens, mask, learning_rate):
    """Compute the derivative of every logit with respect to every weight, then the gradient of the loss."""
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    shares = np.ravel(np.asarray(mask, dtype=float)[:, 1:])
    shares = np.divide(shares, max(np.sum(shares), 1))
    before, after = np.ravel(t[:, :-1]), np.ravel(t[:, 1:])
    eye = np.eye(len(e))
    h = np.tanh(e @ w)
    bend = 1.0 - h**2
    z = h @ e.T
    through = np.einsum("ad,xd,cd->xac", e, bend, w)
    probs = scipy.special.softmax(z, axis=1)
    loss, of_e, of_w = 0.0, np.zeros(e.shape), np.zeros(w.shape)
    for share, x, y in zip(shares, before, after, strict=True):
        g = share * (probs[x] - eye[y])
        of_e += g[:, None] * h[x]
        of_e[x] += g @ through[x]
        of_w += np.einsum("a,ad,c,d->cd", g, e, e[x], bend[x])
        loss += share * (scipy.special.logsumexp(z[x]) - z[x, y])
    return e - learning_rate * of_e, w - learning_rate * of_w, loss
