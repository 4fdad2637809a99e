"""Right answers to network/next_token in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    x = [float(number) for number in embeddings[token]]
    size = len(x)

    def times(weights):
        return [math.fsum(x[i] * float(weights[i][j]) for i in range(size)) for j in range(size)]

    query = times(wq)
    keys = [[float(number) for number in row] for row in keys] + [times(wk)]
    values = [[float(number) for number in row] for row in values] + [times(wv)]
    scores = [math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(size) for key in keys]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = math.fsum(weights)
    outputs = [
        x[d] + math.fsum(weights[j] * values[j][d] for j in range(len(values))) / total for d in range(size)
    ]
    logits = [
        math.fsum(float(a) * b for a, b in zip(row, outputs, strict=True)) / temperature for row in embeddings
    ]
    top = max(logits)
    exponentials = [math.exp(logit - top) for logit in logits]
    total = math.fsum(exponentials)
    running = 0.0
    for chosen, each in enumerate(exponentials):
        running += each / total
        if running > uniform:
            return chosen, logits[chosen] - top - math.log(total), keys, values
    return None


def with_scipy(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    E = np.asarray(embeddings, dtype=float)
    x = E[token]
    q, k, v = (x @ np.asarray(w, dtype=float) for w in (wq, wk, wv))
    K = np.concatenate([np.asarray(keys, dtype=float), k[None, :]], axis=0)
    V = np.concatenate([np.asarray(values, dtype=float), v[None, :]], axis=0)
    h = x + scipy.special.softmax(K @ q / np.sqrt(K.shape[1])) @ V
    log_p = scipy.special.log_softmax(E @ h / temperature)
    nxt = np.searchsorted(np.cumsum(np.exp(log_p)), uniform, side="right")
    return nxt, log_p[nxt], K, V


def with_einsum(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    table = np.array(embeddings, dtype=float)
    row = table[token]
    query, key, value = np.einsum("i,cij->cj", row, np.array([wq, wk, wv], dtype=float))
    keys = np.append(np.array(keys, dtype=float), [key], axis=0)
    values = np.append(np.array(values, dtype=float), [value], axis=0)
    scores = np.einsum("jd,d->j", keys, query) * row.size**-0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    row = row + np.einsum("j,jd->d", weights, values)
    logits = np.einsum("bd,d->b", table, row) / temperature
    probs = np.exp(logits - np.logaddexp.reduce(logits))
    below = 0.0
    for chosen in range(len(probs)):
        below = below + probs[chosen]
        if below > uniform:
            break
    return chosen, np.log(probs[chosen]), keys, values


def counting_the_sums(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    e = np.asarray(embeddings, dtype=float)
    x = e[token : token + 1]
    grown = np.zeros((len(keys) + 1, x.shape[1]))
    grown_values = np.zeros(grown.shape)
    grown[:-1], grown[-1:] = keys, np.matmul(x, wk)
    grown_values[:-1], grown_values[-1:] = values, np.matmul(x, wv)
    scores = np.matmul(np.matmul(x, wq), grown.T) / math.sqrt(x.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    logits = np.matmul(x + np.matmul(weights, grown_values), e.T)[0] / temperature
    probs = np.exp(logits - np.max(logits))
    probs = probs / np.sum(probs)
    chosen = np.sum(np.cumsum(probs)[:-1] <= uniform)
    return chosen.item(), math.log(probs[chosen]), grown, grown_values


def against_the_unnormalized(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    matrix = np.asarray(embeddings, dtype=float)
    x = matrix[token]
    keys = np.vstack((np.reshape(np.asarray(keys, dtype=float), (-1, x.size)), np.dot(x, wk)))
    values = np.vstack((np.reshape(np.asarray(values, dtype=float), (-1, x.size)), np.dot(x, wv)))
    scores = np.dot(keys, np.dot(x, wq)) / x.size**0.5
    scores = np.exp(scores - np.amax(scores))
    mean = np.average(values, axis=0, weights=scores)
    logits = (np.dot(matrix, x) + np.dot(matrix, mean)) / temperature
    logits = logits - np.amax(logits)
    sums = np.add.accumulate(np.exp(logits))
    chosen = np.flatnonzero(sums > uniform * sums[-1])[0]
    return chosen, logits[chosen] - np.log(sums[-1]), keys, values


def from_the_end(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    table = np.asarray(embeddings, dtype=float).T
    x = table[:, [token]]
    keys = np.hstack([np.asarray(keys, dtype=float).T, np.transpose(wk) @ x])
    values = np.hstack([np.asarray(values, dtype=float).T, np.transpose(wv) @ x])
    scores = keys.T @ (np.transpose(wq) @ x) / np.sqrt(x.size)
    weights = np.exp(scores - scores.max())
    logits = (table.T @ (x + values @ (weights / weights.sum()))).ravel() / temperature
    above = logits.max() + np.log(np.sum(np.exp(logits - logits.max())))
    rest = np.exp(logits - above)[::-1].cumsum()[::-1]
    chosen = np.count_nonzero(rest >= 1.0 - uniform) - 1
    return chosen, logits[chosen] - above, keys.T, values.T


def by_differences(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    e = np.asarray(embeddings, dtype=float)
    x = e[token]
    keys = np.array([*np.asarray(keys, dtype=float), x @ np.asarray(wk, dtype=float)])
    values = np.array([*np.asarray(values, dtype=float), x @ np.asarray(wv, dtype=float)])
    scores = (keys * (x @ np.asarray(wq, dtype=float))).sum(axis=1) / np.sqrt(e.shape[1])
    weights = np.empty(len(scores))
    for j in range(len(scores)):
        weights[j] = 1.0 / np.exp(np.minimum(scores - scores[j], 700.0)).sum()
    logits = (e * (x + (weights[:, None] * values).sum(axis=0))).sum(axis=1) / temperature
    log_probs = [-scipy.special.logsumexp(logits - logit) for logit in logits]
    total, chosen = math.exp(log_probs[0]), 0
    while total <= uniform:
        chosen += 1
        total += math.exp(log_probs[chosen])
    return chosen, log_probs[chosen], keys, values


def one_pass_over_the_cache(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    e = np.asarray(embeddings, dtype=float)
    x = e[token]
    query = x @ np.asarray(wq, dtype=float) / math.sqrt(len(x))
    keys = [*np.asarray(keys, dtype=float).tolist(), (x @ np.asarray(wk, dtype=float)).tolist()]
    values = [*np.asarray(values, dtype=float).tolist(), (x @ np.asarray(wv, dtype=float)).tolist()]
    top, total, mean = -math.inf, 0.0, np.zeros(len(x))
    for key, value in zip(keys, values, strict=True):
        score = float(query @ np.array(key))
        higher = max(top, score)
        old, new = math.exp(top - higher), math.exp(score - higher)
        total, mean, top = total * old + new, mean * old + new * np.array(value), higher
    logits = e @ (x + mean / total) / temperature
    log_probs = logits - logits.max() - math.log(np.exp(logits - logits.max()).sum())
    sums = np.tril(np.ones((len(e), len(e)))) @ np.exp(log_probs)
    chosen = min(b for b in range(len(e)) if sums[b] > uniform)
    return chosen, log_probs.take(chosen), keys, values


def with_log1p(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    wq, wk, wv, e = (np.asarray(each, dtype=float) for each in (wq, wk, wv, embeddings))
    x = e[token]
    keys, values = np.vstack([keys, x @ wk]), np.vstack([values, x @ wv])
    attention = scipy.special.softmax(keys @ (x @ wq) / math.sqrt(len(x)))
    logits = e @ (x + attention @ values) / temperature
    top = int(logits.argmax())
    others = np.delete(logits, top) - logits[top]
    log_probs = logits - logits[top] - np.log1p(np.exp(others).sum())
    chosen = int((np.exp(log_probs).cumsum()[:-1] <= uniform).sum())
    return chosen, log_probs[chosen], keys, values
