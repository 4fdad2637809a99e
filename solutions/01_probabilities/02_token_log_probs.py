"""Model answer: the log-probability of the sampled token."""

import numpy as np


def token_log_probs(logits, tokens):
    """Return the log-probability of the sampled token at every position."""
    logits = np.asarray(logits, dtype=float)
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    # The indices need the axis of the vocabulary, which is removed afterwards.
    return np.take_along_axis(log_probs, np.asarray(tokens)[..., None], axis=-1)[..., 0]
