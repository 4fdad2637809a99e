"""Model answer: a ramp instead of a cliff."""

import numpy as np


def overlong_punishment(lengths, max_length, buffer):
    """0 for short answers, falling to -1 at the budget."""
    # solution
    lengths = np.asarray(lengths, dtype=float)
    return np.clip((max_length - buffer - lengths) / buffer, -1.0, 0.0)
    # end
