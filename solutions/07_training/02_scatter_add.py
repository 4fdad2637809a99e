"""Model answer: scatter-add."""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Return a table in which each weight is added to the entry of its state and token."""
    index = np.asarray(states) * n_tokens + np.asarray(tokens)
    # bincount adds the weights of equal indices; `table[states, tokens] += weights` would not.
    return np.bincount(index, weights, minlength=n_states * n_tokens).reshape(n_states, n_tokens)
