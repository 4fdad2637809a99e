"""Right answers to network/unmoved_end in other styles. Some repair the given program."""

import itertools
import math

import numpy as np
import scipy.special


def _train(embedding, mix, texts, learning_rate, steps, embedding_slope_of):
    table, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts = np.asarray(texts)
    seen, said = texts[:, :-1].ravel(), texts[:, 1:].ravel()
    for _ in range(steps):
        rows = table[seen]
        hidden = np.tanh(rows @ weights)
        slope = scipy.special.softmax(hidden @ table.T, axis=-1)
        slope[np.arange(len(said)), said] -= 1.0
        slope /= len(said)
        inner = (slope @ table) * (1 - hidden * hidden)
        table_slope = embedding_slope_of(slope.T @ hidden, inner @ weights.T, seen)
        table, weights = table - learning_rate * table_slope, weights - learning_rate * rows.T @ inner
    return table, weights


def added_at_each_visit(embedding, mix, texts, learning_rate=1.0, steps=1):
    def embedding_slope_of(writing, reading, seen):
        np.add.at(writing, seen, reading)
        return writing

    return _train(embedding, mix, texts, learning_rate, steps, embedding_slope_of)


def token_by_token(embedding, mix, texts, learning_rate=1.0, steps=1):
    def embedding_slope_of(writing, reading, seen):
        rows = [reading[seen == token].sum(0) for token in range(len(writing))]
        return np.array(rows) + writing

    return _train(embedding, mix, texts, learning_rate, steps, embedding_slope_of)


def with_bincount(embedding, mix, texts, learning_rate=1.0, steps=1):
    def embedding_slope_of(writing, reading, seen):
        columns = [np.bincount(seen, column, len(writing)) for column in reading.T]
        return np.stack(columns, axis=-1) + writing

    return _train(embedding, mix, texts, learning_rate, steps, embedding_slope_of)


def visit_by_visit(embedding, mix, texts, learning_rate=1.0, steps=1):
    def embedding_slope_of(writing, reading, seen):
        for token, row in zip(seen, reading, strict=True):
            writing[token] += row
        return writing

    return _train(embedding, mix, texts, learning_rate, steps, embedding_slope_of)


def by_counted_pairs(embedding, mix, texts, learning_rate=1.0, steps=1):
    table, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts = np.asarray(texts)
    counts = np.zeros((len(table), len(table)))
    np.add.at(counts, (texts[:, :-1], texts[:, 1:]), 1.0)
    for _ in range(steps):
        hidden = np.tanh(table @ weights)
        probs = scipy.special.softmax(hidden @ table.T, axis=1)
        slope = (counts.sum(1, keepdims=True) * probs - counts) / counts.sum()
        inner = (slope @ table) * (1 - hidden**2)
        change = slope.T @ hidden + inner @ weights.T
        weights = weights - learning_rate * (table.T @ inner)
        table = table - learning_rate * change
    return table, weights


def text_by_text(embedding, mix, texts, learning_rate=1.0, steps=1):
    table, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts = np.asarray(texts)
    pairs = texts.shape[0] * (texts.shape[1] - 1)
    for _ in range(steps):
        as_reader, as_writer, others = np.zeros_like(table), np.zeros_like(table), np.zeros_like(weights)
        for text in texts:
            for now, after in itertools.pairwise(text):
                hidden = np.tanh(table[now] @ weights)
                error = scipy.special.softmax(table @ hidden)
                error[after] -= 1.0
                inner = (1.0 - hidden**2) * (table.T @ error)
                as_writer += np.outer(error, hidden)
                as_reader[now] += weights @ inner
                others += np.outer(table[now], inner)
        table = table - learning_rate * (as_reader + as_writer) / pairs
        weights = weights - learning_rate * others / pairs
    return table, weights


def without_arrays(embedding, mix, texts, learning_rate=1.0, steps=1):
    table = [[float(x) for x in row] for row in embedding]
    weights = [[float(x) for x in row] for row in mix]
    size, tokens = range(len(weights)), range(len(table))
    pairs = [pair for text in texts for pair in itertools.pairwise(text)]
    for _ in range(steps):
        to_table = [[0.0 for _ in size] for _ in tokens]
        to_weights = [[0.0 for _ in size] for _ in size]
        for now, after in pairs:
            row = table[now]
            hidden = [math.tanh(math.fsum(row[i] * weights[i][j] for i in size)) for j in size]
            logits = [math.fsum(hidden[j] * table[v][j] for j in size) for v in tokens]
            powers = [math.exp(z - max(logits)) for z in logits]
            errors = [p / math.fsum(powers) - (v == after) for v, p in enumerate(powers)]
            bent = [(1 - hidden[j] ** 2) * math.fsum(errors[v] * table[v][j] for v in tokens) for j in size]
            for j in size:
                to_table[now][j] += math.fsum(bent[k] * weights[j][k] for k in size)
                for v in tokens:
                    to_table[v][j] += errors[v] * hidden[j]
                for i in size:
                    to_weights[i][j] += row[i] * bent[j]
        rate = learning_rate / len(pairs)
        table = [[table[v][j] - rate * to_table[v][j] for j in size] for v in tokens]
        weights = [[weights[i][j] - rate * to_weights[i][j] for j in size] for i in size]
    return table, weights


def with_einsum(embedding, mix, texts, learning_rate=1.0, steps=1):
    table, weights = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    one_hot = np.eye(len(table))[np.asarray(texts)]
    reads, writes = one_hot[:, :-1], one_hot[:, 1:]
    for _ in range(steps):
        hidden = np.tanh(np.einsum("ntv,vi,ij->ntj", reads, table, weights))
        log_probs = scipy.special.log_softmax(np.einsum("ntj,vj->ntv", hidden, table), axis=-1)
        error = (np.exp(log_probs) - writes) / (reads.shape[0] * reads.shape[1])
        inner = np.einsum("ntv,vj,ntj->ntj", error, table, 1 - hidden**2)
        gradient = np.einsum("ntv,ntj->vj", error, hidden)
        gradient += np.einsum("ntv,ntj,ij->vi", reads, inner, weights)
        others = np.einsum("ntv,vi,ntj->ij", reads, table, inner)
        table, weights = table - learning_rate * gradient, weights - learning_rate * others
    return table, weights
