"""Model answer: the backward pass of RMSNorm."""

import numpy as np


def norm_slope(x, gain, slope):
    """The gradients of the rows and of the gain, from the gradient of the output."""
    # solution
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    scale = 1.0 / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    rows = x * scale
    rows_slope = gain * slope
    # The second term is there because the scale depends on every number of its row.
    x_slope = scale * (rows_slope - rows * (rows_slope * rows).mean(-1, keepdims=True))
    return x_slope, (slope * rows).reshape(-1, len(gain)).sum(0)
    # end
