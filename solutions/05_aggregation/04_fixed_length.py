"""Model answer: a constant instead of the length."""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Sum over tokens, divided by completions times the budget."""
    if max_length < 1:
        raise ValueError(f"max_length: expected at least 1, got {max_length}")
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    return float(np.where(mask, values, 0.0).sum() / (len(values) * max_length))
