"""Right answers to network/grpo_step in other styles."""

import math
import statistics

import numpy as np
import scipy.special


def with_fsum(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    table = [[float(number) for number in row] for row in embeddings]
    matrix = [[float(number) for number in row] for row in weight]
    size, count = range(len(matrix)), sum(1 for marks in mask for mark in list(marks)[1:] if mark)
    paid = [float(reward) for reward in rewards]
    mean, std = statistics.fmean(paid), statistics.pstdev(paid)
    changes = [[[] for _ in row] for row in table]
    of_weight = [[[] for _ in size] for _ in size]
    held = 0
    for names, marks, reward, olds in zip(tokens, mask, paid, old_log_probs, strict=True):
        advantage = (reward - mean) / (std + 1e-4)
        for place in range(1, len(names)):
            if not marks[place]:
                continue
            read, due = int(names[place - 1]), int(names[place])
            h = [math.tanh(math.fsum(table[read][c] * matrix[c][d] for c in size)) for d in size]
            z = [math.fsum(row[d] * h[d] for d in size) for row in table]
            top = max(z)
            powers = [math.exp(number - top) for number in z]
            total = math.fsum(powers)
            ratio = math.exp(z[due] - top - math.log(total) - float(olds[place]))
            if (advantage > 0 and ratio > 1 + clip) or (advantage < 0 and ratio < 1 - clip):
                held += 1
                continue
            g = [ratio * advantage * ((a == due) - power / total) for a, power in enumerate(powers)]
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
        [x + rate * math.fsum(c) for x, c in zip(*rows, strict=True)]
        for rows in zip(table, changes, strict=True)
    ]
    turned = [
        [x + rate * math.fsum(c) for x, c in zip(*rows, strict=True)]
        for rows in zip(matrix, of_weight, strict=True)
    ]
    return moved, turned, held / max(count, 1)


def with_one_hot_products(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    e, w, t = np.array(embeddings, dtype=float), np.array(weight, dtype=float), np.array(tokens)
    m = np.array(mask, dtype=float)[:, 1:]
    r = np.array(rewards, dtype=float)
    a = np.broadcast_to(((r - np.mean(r)) / (np.std(r) + 1e-4)).reshape(-1, 1), m.shape)
    eye = np.eye(e.shape[0])
    x, y = eye[t[:, :-1].reshape(-1)], eye[t[:, 1:].reshape(-1)]
    h = np.tanh(x @ e @ w)
    log_probs = scipy.special.log_softmax(h @ e.T, axis=1)
    ratio = np.exp((log_probs * y).sum(axis=1).reshape(m.shape) - np.array(old_log_probs, dtype=float)[:, 1:])
    bounds = np.where(a > 0, 1 + clip, 1 - clip)
    beyond = np.sign(a) * (ratio - bounds) > 0
    shares = m / m.sum() if m.any() else m
    g = (shares * np.where(beyond, 0, a * ratio)).reshape(-1, 1) * (y - np.exp(log_probs))
    inner = (g @ e) * (1 - h) * (1 + h)
    of_e = g.T @ h + x.T @ (inner @ w.T)
    of_w = (x @ e).T @ inner
    return e + learning_rate * of_e, w + learning_rate * of_w, np.sum(shares[beyond])


def comparing_the_branches(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    m, old = np.asarray(mask, dtype=float)[:, 1:], np.asarray(old_log_probs, dtype=float)[:, 1:]
    r = np.asarray(rewards, dtype=float)
    a = ((r - r.mean()) / (r.std() + 1e-4))[:, None]
    h = np.tanh(e @ w)
    z = h @ e.T
    log_probs = z - scipy.special.logsumexp(z, axis=1, keepdims=True)
    ratio = np.exp(log_probs[t[:, :-1], t[:, 1:]] - old)
    free, bound = ratio * a, np.clip(ratio, 1 - clip, 1 + clip) * a
    held = bound < free
    push = np.where(held, 0.0, free) * m / max(m.sum(), 1.0)
    pairs = np.zeros((len(e), len(e)))
    np.add.at(pairs, (t[:, :-1], t[:, 1:]), push)
    g = pairs - pairs.sum(axis=1, keepdims=True) * np.exp(log_probs)
    inner = (g @ e) * (1.0 - np.square(h))
    new_e = e + learning_rate * (np.transpose(g) @ h + inner @ np.transpose(w))
    new_w = w + learning_rate * (np.transpose(e) @ inner)
    return new_e, new_w, float((held * m).sum() / max(m.sum(), 1.0))


def completion_by_completion(
    embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2
):
    e, w = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float)
    r = np.asarray(rewards, dtype=float)
    centered = r - np.average(r)
    advantages = centered / (math.sqrt(np.average(centered**2)) + 1e-4)
    count = max(np.count_nonzero(np.asarray(mask)[:, 1:]), 1)
    of_e, of_w, held = np.zeros_like(e), np.zeros_like(w), 0
    for text, marks, a, olds in zip(
        np.asarray(tokens), np.asarray(mask), advantages, old_log_probs, strict=True
    ):
        for place in np.flatnonzero(marks[1:]) + 1:
            read, due = text[place - 1], text[place]
            h = np.tanh(e[read] @ w)
            z = e @ h
            ratio = np.exp(z[due] - scipy.special.logsumexp(z) - olds[place])
            if (ratio > 1 + clip if a > 0 else ratio < 1 - clip) and a != 0:
                held += 1
                continue
            g = -ratio * a * scipy.special.softmax(z)
            g[due] += ratio * a
            of_e += np.outer(g, h)
            inner = (g @ e) * (1.0 - h * h)
            of_e[read] += w @ inner
            of_w += np.outer(e[read], inner)
    return e + learning_rate * of_e / count, w + learning_rate * of_w / count, held / count


def with_einsum(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    m = np.asarray(mask, dtype=float).copy()
    m[:, 0] = 0.0
    shares = (m / np.maximum(m.sum(), 1.0))[:, 1:]
    r = np.asarray(rewards, dtype=float)
    a = (r - np.mean(r)) / (np.sqrt(np.var(r)) + 1e-4)
    rows = e[t][:, :-1]
    h = np.tanh(np.einsum("gtc,cd->gtd", rows, w))
    z = np.einsum("vd,gtd->gtv", e, h)
    z = z - np.max(z, axis=-1, keepdims=True)
    log_probs = z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))
    hot = (np.arange(len(e)) == t[:, 1:, None]).astype(float)
    ratio = np.exp(np.einsum("gtv,gtv->gt", log_probs, hot) - np.asarray(old_log_probs, dtype=float)[:, 1:])
    up, down = (a > 0)[:, None] & (ratio > 1 + clip), (a < 0)[:, None] & (ratio < 1 - clip)
    free = 1.0 - up - down
    g = np.einsum("gt,gt,gt,g,gtv->gtv", shares, free, ratio, a, hot - np.exp(log_probs))
    inner = np.einsum("gtv,vd,gtd->gtd", g, e, 1.0 - h**2)
    before = (np.arange(len(e)) == t[:, :-1, None]).astype(float)
    of_e = np.einsum("gtv,gtd->vd", g, h) + np.einsum("gtv,gtd,cd->vc", before, inner, w)
    of_w = np.einsum("gtc,gtd->cd", rows, inner)
    return e + learning_rate * of_e, w + learning_rate * of_w, np.einsum("gt,gt->", shares, 1.0 - free)


def only_what_counts(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    e, w, t = np.array(embeddings, dtype=float), np.array(weight, dtype=float), np.asarray(tokens)
    kept, r = np.asarray(mask)[:, 1:] == 1, np.asarray(rewards, dtype=float)
    if not kept.any() or r.min() == r.max():
        return e, w, 0.0
    before, after, old = t[:, :-1][kept], t[:, 1:][kept], np.asarray(old_log_probs, dtype=float)[:, 1:][kept]
    a = np.repeat((r - r.sum() / len(r)) / (r.std(ddof=0) + 1e-4), kept.sum(axis=1))
    place = np.arange(before.size)
    h = np.tanh(np.dot(e[before], w))
    z = np.dot(h, e.T)
    log_probs = z - np.logaddexp.reduce(z, axis=1)[:, np.newaxis]
    ratio = np.exp(log_probs[place, after] - old)
    moves = ~(((a > 0) & (ratio > 1 + clip)) | ((a < 0) & (ratio < 1 - clip)))
    push = moves * a * ratio / before.size
    g = -push[:, np.newaxis] * np.exp(log_probs)
    g[place, after] += push
    inner = np.dot(g, e) / np.cosh(np.dot(e[before], w)) ** 2
    of_e = np.dot(g.T, h)
    back = np.dot(inner, w.T)
    for token in range(len(e)):
        of_e[token] += back[before == token].sum(axis=0)
    of_w = np.dot(e[before].T, inner)
    return e + learning_rate * of_e, w + learning_rate * of_w, 1.0 - moves.mean()


def as_a_weighted_imitation(
    embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2
):
    """Imitate with one weight per token. A weight may be negative."""
    e, w, t = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float), np.asarray(tokens)
    before, after = np.ravel(t[:, :-1]), np.ravel(t[:, 1:])
    x, y = e[before], e[after]
    h = np.tanh(np.matmul(x, w))
    z = np.matmul(h, e.T)
    apart = z - np.sum(h * y, axis=1, keepdims=True)
    log_total = scipy.special.logsumexp(apart, axis=1)
    probs = np.exp(apart - log_total[:, None])
    m = np.ravel(np.asarray(mask, dtype=float)[:, 1:])
    r = np.asarray(rewards, dtype=float)
    a = np.repeat((r - r.mean()) / (r.std() + 1e-4), t.shape[1] - 1)
    log_ratio = -log_total - np.ravel(np.asarray(old_log_probs, dtype=float)[:, 1:])
    high, low = (a > 0) & (log_ratio > np.log1p(clip)), (a < 0) & (log_ratio < np.log1p(-clip))
    shares = m / max(m.sum(), 1.0)
    push = shares * a * np.exp(log_ratio) * ~(high | low)
    of_e, of_w = np.zeros_like(e), np.zeros_like(w)
    np.add.at(of_e, after, push[:, None] * h)
    of_e -= np.matmul((push[:, None] * probs).T, h)
    inner = push[:, None] * (y - np.matmul(probs, e)) * (1.0 - h**2)
    np.add.at(of_e, before, np.matmul(inner, w.T))
    of_w += np.matmul(x.T, inner)
    return e + learning_rate * of_e, w + learning_rate * of_w, float(shares @ (high | low))
