"""Model answer: train a small language model."""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    """Return the table of logits after all updates."""
    # solution
    uniforms = np.asarray(uniforms, dtype=float)
    _, group, length = uniforms.shape
    logits = np.zeros((vocabulary + 1, vocabulary))
    for numbers in uniforms:
        old_probs = softmax(logits)
        rows, tokens = np.zeros((2, group, length), dtype=int)
        row = np.full(group, vocabulary)
        for t in range(length):
            rows[:, t] = row
            row = (np.cumsum(old_probs[row], -1)[:, :-1] <= numbers[:, t, None]).sum(-1)
            tokens[:, t] = row
        # The reward is the fraction of right transitions.
        rewards = (tokens[:, 1:] == (tokens[:, :-1] + 1) % vocabulary).mean(-1)
        advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-4))[:, None]
        # Several steps on the batch: old_probs and the advantages stay the same.
        for _ in range(steps):
            probs = softmax(logits)
            ratio = probs[rows, tokens] / old_probs[rows, tokens]
            too_high = (advantages > 0) & (ratio > 1 + clip)
            too_low = (advantages < 0) & (ratio < 1 - clip)
            slope = np.where(too_high | too_low, 0.0, ratio * advantages) / (group * length)
            gradient = np.zeros_like(logits)
            np.add.at(gradient, rows, slope[..., None] * (np.eye(vocabulary)[tokens] - probs[rows]))
            logits = logits + learning_rate * gradient
    return logits
    # end
