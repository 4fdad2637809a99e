"""Every token counts the same  (easy, 1 point)

## Background

How a trainer averages decides which answers teach most. DAPO gives every token of the batch the
same weight.

## Problem

Write `token_mean(values, mask)`:

    Σ m v / Σ m,    over all tokens of the batch

## Input

- values: (N, T), one per token; padding holds arbitrary numbers, NaN included.
- mask: (N, T) 1 on tokens, 0 on padding.

## Output

A number; 0 if no token is left.

## Examples

    token_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    -> 3.0

(1 + 2 + 3 + 6) / 4

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DAPO, eq. 12 (arXiv:2503.14476); verl `token-mean`.

## See also

- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/token_mean
"""

import numpy as np


def token_mean(values, mask):
    """Mean over all tokens of the batch."""
    raise NotImplementedError("aggregation/token_mean")
