"""Model answer: from a uniform number to a token."""

import numpy as np


def sample_tokens(probs, uniforms):
    """The first token whose cumulative probability is larger than the uniform number."""
    # solution
    sums = np.cumsum(np.asarray(probs, dtype=float), axis=-1)[:, :-1]
    return (sums <= np.asarray(uniforms)[:, None]).sum(-1)
    # end
