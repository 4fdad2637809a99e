"""Right answers to training/train_language in other styles."""

import itertools
import math

import numpy as np
import scipy.special


def with_loops(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    table = [[0.0] * vocabulary for _ in range(vocabulary + 1)]
    for numbers in uniforms:
        old = [_softmax(row) for row in table]
        texts = [_completion(old, row) for row in numbers]
        rewards = [_share(text, vocabulary) for text in texts]
        mean = math.fsum(rewards) / len(rewards)
        std = math.sqrt(math.fsum((r - mean) ** 2 for r in rewards) / len(rewards))
        for _ in range(steps):
            new = [_softmax(row) for row in table]
            for text, reward in zip(texts, rewards, strict=True):
                a = (reward - mean) / (std + 1e-4)
                for row, token in zip([vocabulary, *text], text, strict=False):
                    ratio = new[row][token] / old[row][token]
                    if (a > 0 and ratio > 1 + clip) or (a < 0 and ratio < 1 - clip):
                        continue
                    rate = learning_rate * ratio * a / (len(texts) * len(text))
                    for v in range(vocabulary):
                        table[row][v] += rate * ((v == token) - new[row][v])
    return table


def in_log_space(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    uniforms = np.asarray(uniforms, dtype=float)
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in uniforms:
        log_old = scipy.special.log_softmax(logits, axis=1)
        tokens = np.array([_completion(np.exp(log_old), row) for row in numbers])
        rows = np.insert(tokens[:, :-1], 0, vocabulary, axis=1)
        rewards = np.mean((tokens[:, 1:] - tokens[:, :-1]) % vocabulary == 1 % vocabulary, axis=1)
        advantages = np.broadcast_to(_advantages(rewards)[:, None], tokens.shape)
        for _ in range(steps):
            log_probs = scipy.special.log_softmax(logits, axis=1)
            ratio = np.exp((log_probs - log_old)[rows, tokens])
            free, held = ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages
            slope = np.where(free <= held, free, 0.0) / tokens.size
            gradient = np.zeros_like(logits)
            np.add.at(gradient, (rows, tokens), slope)
            gradient -= gradient.sum(1, keepdims=True) * np.exp(log_probs)
            logits = logits + learning_rate * gradient
    return logits


def with_einsum(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in np.array(uniforms, dtype=float):
        old = scipy.special.softmax(logits, axis=-1)
        tokens = np.array([_completion(old, row) for row in numbers])
        token_hot = np.eye(vocabulary)[tokens]
        row_hot = np.eye(vocabulary + 1)[np.hstack([np.full((len(tokens), 1), vocabulary), tokens[:, :-1]])]
        rewards = np.array([_share(text, vocabulary) for text in tokens.tolist()])
        a = _advantages(rewards)[:, None]
        for _ in range(steps):
            probs = scipy.special.softmax(logits, axis=-1)
            ratio = np.einsum("gtr,rv,gtv->gt", row_hot, probs / old, token_hot)
            slope = a * ratio * np.where(a > 0, ratio <= 1 + clip, ratio >= 1 - clip) / tokens.size
            chosen = np.einsum("gt,gtr,gtv->rv", slope, row_hot, token_hot)
            logits = logits + learning_rate * (chosen - chosen.sum(1)[:, None] * probs)
    return logits


def table_of_visits(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    """Count the visits of each completion to each entry of the table; an entry has one ratio."""
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in np.asarray(uniforms, dtype=float):
        old = np.array([_softmax(row) for row in logits.tolist()])
        tokens = [_completion(old, row) for row in numbers]
        visits = np.zeros((len(tokens), *logits.shape))
        for n, text in enumerate(tokens):
            for row, token in zip([vocabulary, *text[:-1]], text, strict=True):
                visits[n, row, token] += 1
        a = _advantages(np.array([_share(text, vocabulary) for text in tokens]))[:, None, None]
        for _ in range(steps):
            probs = np.array([_softmax(row) for row in logits.tolist()])
            ratio = probs / old
            keeps = ~((a > 0) & (ratio > 1 + clip) | (a < 0) & (ratio < 1 - clip))
            slope = (visits * keeps * ratio * a).sum(0) / visits.sum()
            logits = logits + learning_rate * (slope - slope.sum(1, keepdims=True) * probs)
    return logits


def boolean_index(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    uniforms = np.asarray(uniforms, dtype=float)
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in uniforms:
        old = scipy.special.softmax(logits, axis=1)
        texts = np.full((len(numbers), numbers.shape[1] + 1), vocabulary)
        for t, column in enumerate(numbers.T):
            below = old.cumsum(1)[texts[:, t]][:, :-1] <= column[:, None]
            texts[:, t + 1] = below.sum(1)
        rows, tokens = texts[:, :-1].ravel(), texts[:, 1:].ravel()
        is_right = (texts[:, 1:-1] + 1) % vocabulary == texts[:, 2:]
        a = np.repeat(_advantages(is_right.mean(1)), numbers.shape[1])
        for _ in range(steps):
            probs = scipy.special.softmax(logits, axis=1)
            ratio = probs[rows, tokens] / old[rows, tokens]
            free = ~(((a > 0) & (ratio > 1 + clip)) | ((a < 0) & (ratio < 1 - clip)))
            gradient = np.zeros(logits.shape)
            np.add.at(gradient, (rows[free], tokens[free]), (ratio * a)[free])
            pushed_down = np.bincount(rows[free], (ratio * a)[free], vocabulary + 1)
            logits = logits + learning_rate * (gradient - pushed_down[:, None] * probs) / len(tokens)
    return logits


def by_the_sign(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in uniforms:
        old = scipy.special.softmax(logits, axis=1)
        texts = [_completion(old, row) for row in numbers]
        advantages = _advantages(np.array([_share(text, vocabulary) for text in texts]))
        for _ in range(steps):
            probs = scipy.special.softmax(logits, axis=1)
            step = np.zeros_like(logits)
            for text, a in zip(texts, advantages, strict=True):
                for t, token in enumerate(text):
                    row = text[t - 1] if t else -1
                    ratio = probs[row, token] / old[row, token]
                    if np.sign(a) * (ratio - 1) <= clip:
                        step[row] += ratio * a * (np.eye(vocabulary)[token] - probs[row])
            logits = logits + learning_rate * step / np.size(texts)
    return logits


def _advantages(rewards):
    return (rewards - rewards.mean()) / (rewards.std() + 1e-4)


def _share(text, vocabulary):
    right = [(before + 1) % vocabulary == after for before, after in itertools.pairwise(text)]
    return sum(right) / len(right)


def _completion(table, numbers):
    text, row = [], -1
    for number in numbers:
        row = int(sum(edge <= number for edge in np.cumsum(table[row])[:-1]))
        text.append(row)
    return text


def _softmax(row):
    weights = [math.exp(z - max(row)) for z in row]
    return [weight / math.fsum(weights) for weight in weights]
