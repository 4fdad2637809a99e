"""Model answer: one training step by imitation."""

import numpy as np


def imitation_step(embeddings, weight, tokens, mask, learning_rate):
    """E and W after one step of descent on the cross-entropy, and the loss before the step."""
    # solution
    embeddings, weight = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float)
    tokens = np.asarray(tokens)
    weights = np.asarray(mask, dtype=float)[:, 1:].ravel()
    weights = weights / max(weights.sum(), 1.0)
    before, after = tokens[:, :-1].ravel(), tokens[:, 1:].ravel()
    hidden = np.tanh(embeddings[before] @ weight)
    logits = hidden @ embeddings.T
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    logits_slope = weights[:, None] * (np.exp(log_probs) - np.eye(len(embeddings))[after])
    inner = (logits_slope @ embeddings) * (1.0 - hidden**2)
    weight_slope = embeddings[before].T @ inner
    embeddings_slope = logits_slope.T @ hidden  # from z = E h
    np.add.at(embeddings_slope, before, inner @ weight.T)  # from E[x]; a token may be read several times
    loss = -(weights * log_probs[np.arange(len(after)), after]).sum()
    return embeddings - learning_rate * embeddings_slope, weight - learning_rate * weight_slope, loss
    # end
