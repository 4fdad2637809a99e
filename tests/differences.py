"""Central differences: what a gradient written by hand is held against."""

import numpy as np


def central_differences(function, point, step=1e-3):
    """d function / d point, entry by entry, with an error of order step**4.

    Two central differences, of steps h and h/2, are combined (Richardson).
    """
    gradient = np.empty(point.shape)
    for index in np.ndindex(point.shape):
        gradient[index] = _combined(*(_difference(function, point, index, h) for h in (step, step / 2)))
    return gradient


def differences_of_runs(function, point, step=1e-3):
    """The same of a function of many runs side by side, (S, n) -> (S,), for one point (n,)."""
    wide, narrow = (
        (function(point + h * np.eye(point.size)) - function(point - h * np.eye(point.size))) / (2 * h)
        for h in (step, step / 2)
    )
    return _combined(wide, narrow)


def _difference(function, point, index, h):
    up, down = point.copy(), point.copy()
    up[index] += h
    down[index] -= h
    return (function(up) - function(down)) / (2 * h)


def _combined(wide, narrow):
    return (4 * narrow - wide) / 3
