"""A ramp instead of a cliff  (medium, 2 points)

## Background

An answer cut off at the budget is judged wrong, however good it was. DAPO warns before the end,
with a ramp.

## Problem

Write `overlong_punishment(lengths, max_length, buffer)`, to be added to the reward:

    0                               for length <= max_length - buffer
    (max_length - buffer - length) / buffer     from there to max_length
    -1                              beyond max_length

## Input

- lengths: (N,) tokens of each completion.
- max_length: the budget in tokens.
- buffer: width of the ramp in tokens; always between 1 and max_length here.

## Output

(N,) numbers from -1 to 0.

## Examples

    overlong_punishment([9], 10, 2)
    -> [-0.5]

(10 - 2 - 9) / 2

## Notes

Some texts write L_cache for the threshold where the ramp begins; in the paper and in TRL it is the
width.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DAPO, eq. 13 (arXiv:2503.14476); TRL `get_soft_overlong_punishment`.

## See also

- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/soft_overlong
"""

import numpy as np


def overlong_punishment(lengths, max_length, buffer):
    """0 for short answers, falling to -1 at the budget."""
    raise NotImplementedError("aggregation/soft_overlong")
