"""Model answer: the way back into the table."""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Add each weight to the entry of its state and token."""
    index = np.asarray(states) * n_tokens + np.asarray(tokens)
    return np.bincount(index, weights, minlength=n_states * n_tokens).reshape(n_states, n_tokens)
