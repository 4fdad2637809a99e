"""Right answers to clinic/talking_on in other styles: some repair the given program."""

import math

import numpy as np
import scipy.special


def _train(uniforms, vocabulary, learning_rate, weights_of):
    uniforms = np.asarray(uniforms, dtype=float)
    length = uniforms.shape[2]
    logits = np.zeros((length, vocabulary))
    for numbers in uniforms:
        probs = scipy.special.softmax(logits, axis=1)
        tokens = (np.cumsum(probs, 1)[:, :-1] <= numbers[..., None]).sum(-1)
        has_ended = np.logical_or.accumulate(tokens == 0, axis=1)
        mask = np.concatenate([np.ones((len(tokens), 1)), 1.0 - has_ended[:, :-1]], axis=1)
        rewards = ((tokens == 0).argmax(1) == 2) * has_ended[:, -1] * 1.0
        slope = np.asarray(weights_of(mask)) * (rewards - rewards.mean())[:, None]
        one_hot = np.eye(vocabulary)[tokens]
        logits = logits + learning_rate * np.einsum("gt,gtv->tv", slope, one_hot - probs)
    return logits


def divided_by_the_count(uniforms, vocabulary, learning_rate=8.0):
    return _train(uniforms, vocabulary, learning_rate, lambda mask: mask / np.count_nonzero(mask))


def with_where(uniforms, vocabulary, learning_rate=8.0):
    return _train(
        uniforms, vocabulary, learning_rate, lambda mask: np.where(mask > 0, 1 / float(np.sum(mask)), 0.0)
    )


def weights_as_lists(uniforms, vocabulary, learning_rate=8.0):
    def weights_of(mask):
        total = math.fsum(x for row in mask for x in row)
        return [[x / total for x in row] for row in mask]

    return _train(uniforms, vocabulary, learning_rate, weights_of)


def boolean_index(uniforms, vocabulary, learning_rate=8.0):
    uniforms = np.array(uniforms, dtype=float)
    logits = np.zeros((uniforms.shape[-1], vocabulary))
    for numbers in uniforms:
        log_probs = scipy.special.log_softmax(logits, axis=-1)
        tokens = np.array(
            [
                np.searchsorted(np.cumsum(np.exp(row))[:-1], column, side="right")
                for row, column in zip(log_probs, numbers.T, strict=True)
            ]
        ).T
        lengths = np.array([np.append(np.flatnonzero(row == 0), len(row) - 1)[0] + 1 for row in tokens])
        is_token = np.arange(tokens.shape[1]) < lengths[:, None]
        is_right = [n == 3 and row[2] == 0 for n, row in zip(lengths, tokens, strict=True)]
        advantages = np.repeat(np.subtract(is_right, np.mean(is_right), dtype=float), lengths)
        positions = np.nonzero(is_token)[1]
        gradient = np.zeros_like(logits)
        np.add.at(gradient, (positions, tokens[is_token]), advantages)
        gradient -= np.bincount(positions, advantages, len(logits))[:, None] * np.exp(log_probs)
        logits = logits + learning_rate * gradient / is_token.sum()
    return logits


def token_by_token(uniforms, vocabulary, learning_rate=8.0):
    length = np.shape(uniforms)[2]
    logits = [[0.0] * vocabulary for _ in range(length)]
    for numbers in uniforms:
        probs = [_softmax(row) for row in logits]
        completions = [_completion(probs, row) for row in numbers]
        rewards = [float(len(each) == 3 and each[-1] == 0) for each in completions]
        mean, total = math.fsum(rewards) / len(rewards), sum(map(len, completions))
        for reward, completion in zip(rewards, completions, strict=True):
            for t, token in enumerate(completion):
                for v in range(vocabulary):
                    logits[t][v] += learning_rate * (reward - mean) / total * ((v == token) - probs[t][v])
    return logits


def position_by_position(uniforms, vocabulary, learning_rate=8.0):
    uniforms = np.asarray(uniforms, dtype=float)
    logits = np.zeros((uniforms.shape[2], vocabulary))
    for numbers in uniforms:
        completions = [_completion([_softmax(row) for row in logits.tolist()], row) for row in numbers]
        rewards = np.array([1.0 if len(c) == 3 and 0 in c else 0.0 for c in completions])
        total = sum(len(c) for c in completions)
        rows = []
        for t, row in enumerate(logits):
            here = [(c[t], r) for c, r in zip(completions, rewards, strict=True) if len(c) > t]
            probs = np.array(_softmax(row))
            steps = [(r - rewards.mean()) * (np.eye(vocabulary)[k] - probs) for k, r in here]
            rows.append(row + learning_rate / total * sum(steps))
        logits = np.array(rows)
    return logits


def _completion(probs, numbers):
    tokens = []
    for row, number in zip(probs, numbers, strict=True):
        tokens.append(sum(edge <= number for edge in np.cumsum(row)[:-1]))
        if tokens[-1] == 0:
            break
    return tokens


def _softmax(row):
    weights = [math.exp(z - max(row)) for z in row]
    return [weight / math.fsum(weights) for weight in weights]
