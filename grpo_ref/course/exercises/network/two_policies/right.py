"""Right answers to network/two_policies in other styles. Some repair the given program."""

import functools
import math

import numpy as np
import scipy.special


def _train(embedding, head, prompts, answers, uniforms, learning_rate, reader_of):
    """Train. `reader_of` is called in each update and returns a function that returns the hidden row of a prompt."""
    table, weights = np.array(embedding, dtype=float), np.array(head, dtype=float)
    uniforms = np.asarray(uniforms, dtype=float)
    log = []
    for update, numbers in enumerate(uniforms):
        read, at_table, at_head = reader_of(update, table), np.zeros_like(table), np.zeros_like(weights)
        log.append([])
        for prompt, answer, row in zip(np.asarray(prompts), answers, numbers, strict=True):
            hidden = read(tuple(prompt.tolist()))
            probs = scipy.special.softmax(hidden @ weights)
            tokens = np.searchsorted(np.cumsum(probs)[:-1], row, side="right")
            log[-1].append(np.log(probs)[tokens])
            advantages = (tokens == answer) - np.mean(tokens == answer)
            slope = np.bincount(tokens, advantages, len(probs)) - advantages.sum() * probs
            at_head += hidden[:, None] * slope
            inner = (weights @ slope) * (1 - hidden * hidden)
            for token in prompt:
                at_table[token] += inner
        rate = learning_rate / numbers.size
        table, weights = table + rate * at_table, weights + rate * at_head
    return table, weights, np.array(log)


def nothing_kept(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    def reader_of(update, table):
        return lambda prompt: np.tanh(table[list(prompt)].sum(0))

    return _train(embedding, head, prompts, answers, uniforms, learning_rate, reader_of)


def kept_by_update(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    kept = {}

    def reader_of(update, table):
        def read(prompt):
            if (update, prompt) not in kept:
                kept[update, prompt] = np.tanh(sum(table[token] for token in prompt))
            return kept[update, prompt]

        return read

    return _train(embedding, head, prompts, answers, uniforms, learning_rate, reader_of)


def thrown_away_at_each_update(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    kept = {}

    def reader_of(update, table):
        kept.clear()
        return lambda prompt: kept.setdefault(prompt, np.tanh(np.add.reduce(table[np.array(prompt)])))

    return _train(embedding, head, prompts, answers, uniforms, learning_rate, reader_of)


def with_functools(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    def reader_of(update, table):
        @functools.cache
        def read(prompt):
            return np.tanh(np.bincount(prompt, minlength=len(table)) @ table)

        return read

    return _train(embedding, head, prompts, answers, uniforms, learning_rate, reader_of)


def all_prompts_at_once(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    table, weights = np.array(embedding, dtype=float), np.array(head, dtype=float)
    numbers, right = np.asarray(uniforms, dtype=float), np.asarray(answers)[:, None]
    counts = np.eye(len(table))[np.asarray(prompts)].sum(1)
    log = np.empty_like(numbers)
    for update, rows in enumerate(numbers):
        hidden = np.tanh(counts @ table)
        log_probs = scipy.special.log_softmax(hidden @ weights, axis=-1)
        probs = np.exp(log_probs)
        tokens = (np.cumsum(probs, -1)[:, None, :-1] <= rows[..., None]).sum(-1)
        log[update] = np.take_along_axis(log_probs, tokens, -1)
        rewards = np.where(tokens == right, 1.0, 0.0)
        advantages = rewards - rewards.mean(-1, keepdims=True)
        one_hot = np.eye(len(table))[tokens]
        slope = np.einsum("pg,pgv->pv", advantages, one_hot - probs[:, None]) / rows.size
        inner = (slope @ weights.T) * (1 - hidden**2)
        weights = weights + learning_rate * hidden.T @ slope
        table = table + learning_rate * counts.T @ inner
    return table, weights, log


def without_arrays(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    table = [[float(x) for x in row] for row in embedding]
    weights = [[float(x) for x in row] for row in head]
    size, tokens, log = range(len(weights)), range(len(table)), []
    for numbers in uniforms:
        at_table, at_head = [[0.0] * len(size) for _ in tokens], [[0.0] * len(tokens) for _ in size]
        rate = learning_rate / sum(len(row) for row in numbers)
        log.append([])
        for prompt, answer, row in zip(prompts, answers, numbers, strict=True):
            hidden = [math.tanh(math.fsum(table[token][j] for token in prompt)) for j in size]
            logits = [math.fsum(hidden[j] * weights[j][v] for j in size) for v in tokens]
            powers = [math.exp(z - max(logits)) for z in logits]
            probs = [each / math.fsum(powers) for each in powers]
            drawn = [_token(probs, float(number)) for number in row]
            log[-1].append([math.log(probs[token]) for token in drawn])
            share = sum(token == answer for token in drawn) / len(drawn)
            pulls = [0.0 for _ in tokens]
            for token in drawn:
                for v in tokens:
                    pulls[v] += ((token == answer) - share) * ((v == token) - probs[v])
            for j in size:
                back = math.fsum(weights[j][v] * pulls[v] for v in tokens) * (1 - hidden[j] ** 2)
                for token in prompt:
                    at_table[token][j] += back
                for v in tokens:
                    at_head[j][v] += hidden[j] * pulls[v]
        table = [[table[v][j] + rate * at_table[v][j] for j in size] for v in tokens]
        weights = [[weights[j][v] + rate * at_head[j][v] for v in tokens] for j in size]
    return table, weights, log


def _token(probs, number):
    return sum(math.fsum(probs[: v + 1]) <= number for v in range(len(probs) - 1))


def kept_with_its_embedding(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    table, weights = np.array(embedding, dtype=float), np.array(head, dtype=float)
    uniforms = np.array(uniforms, dtype=float)
    kept, log = {}, np.zeros(uniforms.shape)
    for u, p in np.ndindex(uniforms.shape[:2]):
        if p == 0:
            at_table, at_head = np.zeros(table.shape), np.zeros(weights.shape)
        prompt = np.asarray(prompts[p])
        made_with, hidden = kept.get(tuple(prompt), (None, None))
        if made_with is not table:
            hidden = np.tanh(table[prompt].sum(axis=0))
            kept[tuple(prompt)] = table, hidden
        log_probs = scipy.special.log_softmax(hidden @ weights)
        edges = np.cumsum(np.exp(log_probs))[:-1]
        tokens = np.array([np.count_nonzero(edges <= number) for number in uniforms[u, p]])
        log[u, p] = log_probs[tokens]
        is_right = tokens == answers[p]
        scores = np.identity(len(log_probs))[tokens] - np.exp(log_probs)
        slope = (is_right - is_right.mean()) @ scores / uniforms[u].size
        at_head += np.multiply.outer(hidden, slope)
        np.add.at(at_table, prompt, weights @ slope * (1 + hidden) * (1 - hidden))
        if p == uniforms.shape[1] - 1:
            table, weights = table + learning_rate * at_table, weights + learning_rate * at_head
    return table, weights, log
