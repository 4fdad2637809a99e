"""Model answer: the soft overlong penalty."""

import numpy as np


def overlong_punishment(lengths, max_length, buffer):
    """Return 0 for short completions, and numbers down to -1 for the last `buffer` tokens of the budget."""
    lengths = np.asarray(lengths, dtype=float)
    # The three lines of the formula are one line with the bounds -1 and 0.
    return np.clip((max_length - buffer - lengths) / buffer, -1.0, 0.0)
