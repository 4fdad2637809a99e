"""Model answer: which token is to blame."""

import numpy as np


def attention_slope(queries, keys, values, slope):
    """The way back through causal attention, to queries, keys and values."""
    # solution
    queries, keys, values, slope = (np.asarray(each, dtype=float) for each in (queries, keys, values, slope))
    tokens, size = queries.shape[-2:]
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(size)
    scores = np.where(np.tri(tokens, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)

    of_weights = slope @ np.swapaxes(values, -1, -2)
    delta = (weights * of_weights).sum(-1, keepdims=True)
    of_scores = weights * (of_weights - delta) / np.sqrt(size)
    of_keys = np.swapaxes(of_scores, -1, -2) @ queries
    return of_scores @ keys, of_keys, np.swapaxes(weights, -1, -2) @ slope
    # end
