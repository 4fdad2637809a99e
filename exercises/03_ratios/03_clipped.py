"""Not further than that  (medium, 2 points)

## Background

A batch is used for several steps, and with every step the policy moves away from the one that wrote
it. PPO stops rewarding a token that has already been pushed far enough; DAPO lets good tokens go
further.

## Problem

Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`, one value per token:

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

## Input

- ratio: r = πθ/πold; a number or shape (T,) or (N, T) or (B, N, T); from 1e-08 to 10000.
- advantages: A; a number or shape (T,) or (N, T) or (B, N, T); from -10000 to 10000.
- clip_low: how far the ratio may go down; from 0 to 0.99; 0.2 if left out.
- clip_high: how far it may go up; from 0 to 20; 0.2 if left out.

## Output

An array of the same shape.

## Examples

    clipped_surrogate([1.0], [2.0])
    -> [2]

a ratio of 1 is not clipped

    clipped_surrogate([1.5], [1.0])
    -> [1.2]

min(1.5, 1.2)

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Schulman et al. 2017, eq. 7 (arXiv:1707.06347); DAPO, eq. 10 (arXiv:2503.14476).

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/clipped
"""

import numpy as np


def clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2):
    """PPO's pessimistic surrogate, one value a token."""
    raise NotImplementedError("ratios/clipped")
