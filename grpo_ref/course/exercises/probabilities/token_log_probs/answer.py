"""Model answer: how likely was the token that came?"""

import numpy as np


def token_log_probs(logits, tokens):
    """The log-probability of the token at every position."""
    # solution
    logits = np.asarray(logits, dtype=float)
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.take_along_axis(log_probs, np.asarray(tokens)[..., None], axis=-1)[..., 0]
    # end
