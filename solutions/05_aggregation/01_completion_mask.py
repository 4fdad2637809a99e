"""Model answer: the completion mask."""

import numpy as np


def completion_mask(tokens, eos):
    """Return 1 up to and including the first `eos` of each row, and 0 after it."""
    is_eos = np.asarray(tokens) == eos
    # cumsum also counts the token itself; only the tokens before it matter.
    eos_before = np.cumsum(is_eos, axis=-1) - is_eos
    return (eos_before == 0).astype(float)
