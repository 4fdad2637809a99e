"""Model answer: log-probabilities that do not overflow."""

import numpy as np


def log_softmax(logits):
    """Log-probabilities along the last axis."""
    logits = np.asarray(logits, dtype=float)
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
