"""Model answer: the full stop never moves."""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Imitation of texts by a network that reads and writes with the same embedding."""
    embedding, mix = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts, one_hot = np.asarray(texts), np.eye(len(embedding))
    seen, said = texts[:, :-1].ravel(), texts[:, 1:].ravel()
    for _ in range(steps):
        rows = embedding[seen]
        hidden = np.tanh(rows @ mix)
        probs = softmax(hidden @ embedding.T)
        slope = (probs - one_hot[said]) / len(said)
        embedding_slope = slope.T @ hidden
        inner = (slope @ embedding) * (1 - hidden**2)
        mix_slope = rows.T @ inner
        embedding_slope += one_hot[seen].T @ (inner @ mix.T)
        embedding = embedding - learning_rate * embedding_slope
        mix = mix - learning_rate * mix_slope
    return embedding, mix
