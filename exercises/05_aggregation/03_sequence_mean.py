"""Every answer counts the same  (easy, 1 point)

## Background

GRPO averages within each answer first. So a token of a long answer counts less, good or bad.

## Problem

Write `sequence_mean(values, mask)`:

    1/N Σᵢ (1/|oᵢ|) Σₜ m v,    |oᵢ| the tokens of completion i

## Input

- values: one per token; shape (N, T); from -1e+06 to 1e+06; where mask is 0 it may hold zeros,
  ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.

## Output

A number. A completion without tokens adds 0 and is still one of the N, as in TRL.

## Examples

    sequence_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    -> 4.0

means 2 and 6

## Constraints

- T may be 0.

## Notes

verl leaves empty completions out of N. Dr. GRPO divides by a constant instead of |oᵢ|.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.

## See also

- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/sequence_mean
"""

import numpy as np


def sequence_mean(values, mask):
    """Mean over completions of the mean over their tokens."""
    raise NotImplementedError("aggregation/sequence_mean")
