"""Right answers to aggregation/soft_overlong in other styles."""

import numpy as np


def three_cases(lengths, max_length, buffer):
    out = []
    for length in lengths:
        if length <= max_length - buffer:
            out.append(0)
        elif length <= max_length:
            out.append((max_length - buffer - int(length)) / buffer)
        else:
            out.append(-1)
    return out


def with_interp(lengths, max_length, buffer):
    return np.interp(lengths, [max_length - buffer, max_length], [0.0, -1.0])


def with_select(lengths, max_length, buffer):
    n = np.array(lengths)
    start = max_length - buffer
    return np.select([n <= start, n <= max_length], [np.zeros(n.shape), (start - n) / buffer], default=-1.0)


def with_piecewise(lengths, max_length, buffer):
    n = np.asarray(lengths).astype(float)
    start = max_length - buffer
    short, long = n <= start, n > max_length
    return np.piecewise(n, [short, long], [0.0, -1.0, lambda x: -(x - start) / buffer])


def share_of_the_ramp(lengths, max_length, buffer):
    into = np.asarray(lengths) - (max_length - buffer)
    share = np.true_divide(into, buffer)
    share[share < 0] = 0.0
    share[share > 1] = 1.0
    return -share


def minimum_of_maximum(lengths, max_length, buffer):
    n = np.asarray(lengths, dtype=np.float64)
    return np.minimum(0.0, np.maximum(-1.0, (max_length - n) / buffer - 1.0))


def numpy_scalars(lengths, max_length, buffer):
    used = [min(max(int(n) - (max_length - buffer), 0), buffer) for n in np.asarray(lengths).tolist()]
    return [np.float64(-tokens) / buffer for tokens in used]
