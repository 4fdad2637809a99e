"""Model answer: causal attention."""

import numpy as np


def attention(queries, keys, values):
    """Causal attention with one head."""
    queries, keys, values = (np.asarray(each, dtype=float) for each in (queries, keys, values))
    tokens, size = queries.shape[-2:]
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(size)
    scores = np.where(np.tri(tokens, dtype=bool), scores, -np.inf)  # no token sees a later one
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights @ values / weights.sum(-1, keepdims=True)
