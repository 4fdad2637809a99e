"""Model answer: the constant divisor of Dr. GRPO."""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Return the sum over all tokens, divided by the number of completions times the budget."""
    if max_length < 1:
        raise ValueError(f"max_length: expected at least 1, got {max_length}")
    values, mask = np.asarray(values, dtype=float), np.asarray(mask) > 0
    return float(np.where(mask, values, 0.0).sum() / (len(values) * max_length))
