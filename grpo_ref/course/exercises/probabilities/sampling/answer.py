"""Model answer: from a uniform number to a token."""

import numpy as np


def sample_tokens(probs, uniforms):
    """The first token whose cumulative probability is larger than the uniform number."""
    # solution
    probs = np.asarray(probs, dtype=float)
    tokens = (np.cumsum(probs, axis=-1) <= np.asarray(uniforms)[:, None]).sum(-1)
    zeros_at_the_end = np.argmax(probs[:, ::-1] > 0, axis=-1)
    return np.minimum(tokens, probs.shape[-1] - 1 - zeros_at_the_end)
    # end
