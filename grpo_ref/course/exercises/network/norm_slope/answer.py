"""Model answer: back through the norm."""

import numpy as np


def norm_slope(x, gain, slope):
    """The way back through RMSNorm, to its rows and its gain."""
    # solution
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    scale = 1.0 / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    rows = x * scale
    inner = gain * slope
    of_x = scale * (inner - rows * (inner * rows).mean(-1, keepdims=True))
    return of_x, (slope * rows).reshape(-1, len(gain)).sum(0)
    # end
