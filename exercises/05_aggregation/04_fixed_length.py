"""A constant instead of the length  (easy, 1 point)

## Background

Dividing by a completion's own length makes each token of a long wrong answer cheap, so wrong
answers grow. Dr. GRPO divides by a constant: the budget.

## Problem

Write `fixed_length_mean(values, mask, max_length)`:

    1/N Σᵢ (1/L) Σₜ m v,    L = max_length for every completion

## Input

- values: (N, T), one per token; padding holds arbitrary numbers, NaN included.
- mask: (N, T) 1 on tokens, 0 on padding.
- max_length: L, the generation budget in tokens, at least 1.

## Output

A number.

## Examples

    fixed_length_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 4)
    -> 1.5

12 / (2 · 4)

## Constraints

- Raise ValueError if max_length is less than 1.

## Notes

TRL `loss_type="dr_grpo"` changes only this; for Dr. GRPO the advantages must also be centered only,
with scale_rewards="none".

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Liu et al. 2025, Dr. GRPO (arXiv:2503.20783).

## See also

- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/fixed_length
"""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Sum over tokens, divided by completions times the budget."""
    raise NotImplementedError("aggregation/fixed_length")
