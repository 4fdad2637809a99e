"""Which way does the token push?  (medium, 2 points)

## Background

Clipping is not about the value of the loss but about its gradient: a clipped token pushes no more.

## Problem

Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`: the derivative of the
clipped surrogate with respect to log_ratio.

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A),    r = exp(log_ratio)

## Input

- log_ratio: log πθ - log πold.
- advantages: A, of the same shape.
- clip_low, clip_high: the half-widths.

## Output

∂s/∂log_ratio, of the same shape.

## Examples

    clipped_slope([0.0], [2.0])
    -> [2]

r = 1: the slope is A

    clipped_slope([0.405465], [1.0])
    -> [0]

the clip holds it

## Constraints

- On the bound itself a token still pushes.

## Notes

Autograd engines differentiate the min and the clip; in mixed precision comparing the two products
can go wrong.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Schulman et al. 2017, eq. 7 (arXiv:1707.06347), differentiated.

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/clipped_slope
"""

import numpy as np


def clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    """The derivative of the clipped surrogate with respect to the log-ratio."""
    raise NotImplementedError("ratios/clipped_slope")
