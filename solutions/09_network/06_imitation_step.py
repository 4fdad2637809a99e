"""Model answer: one step of imitation."""

import numpy as np


def imitation_step(embeddings, weight, tokens, mask, learning_rate):
    """E and W after one step down the cross-entropy, and the loss before it."""
    embeddings, weight = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float)
    tokens = np.asarray(tokens)
    weights = np.asarray(mask, dtype=float)[:, 1:].ravel()
    weights = weights / max(weights.sum(), 1.0)
    before, after = tokens[:, :-1].ravel(), tokens[:, 1:].ravel()
    hidden = np.tanh(embeddings[before] @ weight)
    logits = hidden @ embeddings.T
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    slope = weights[:, None] * (np.exp(log_probs) - np.eye(len(embeddings))[after])
    inner = (slope @ embeddings) * (1.0 - hidden**2)
    of_embeddings, of_weight = slope.T @ hidden, embeddings[before].T @ inner
    np.add.at(of_embeddings, before, inner @ weight.T)
    loss = -(weights * log_probs[np.arange(len(after)), after]).sum()
    return embeddings - learning_rate * of_embeddings, weight - learning_rate * of_weight, loss
