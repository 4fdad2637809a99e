"""Model answer: the full stop never moves."""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Train a network on texts. The network uses the embedding at its input and at its output."""
    embedding, mix = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts, one_hot = np.asarray(texts), np.eye(len(embedding))
    current, following = texts[:, :-1].ravel(), texts[:, 1:].ravel()
    for _ in range(steps):
        rows = embedding[current]
        hidden = np.tanh(rows @ mix)
        probs = softmax(hidden @ embedding.T)
        logits_slope = (probs - one_hot[following]) / len(following)
        embedding_slope = logits_slope.T @ hidden
        inner_slope = (logits_slope @ embedding) * (1 - hidden**2)
        mix_slope = rows.T @ inner_slope
        embedding_slope += one_hot[current].T @ (inner_slope @ mix.T)
        embedding = embedding - learning_rate * embedding_slope
        mix = mix - learning_rate * mix_slope
    return embedding, mix
