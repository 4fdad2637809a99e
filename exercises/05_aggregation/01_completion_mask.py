"""Where does a completion end?  (easy, 1 point)

## Background

Completions of a batch are padded to one length. The mask says which tokens the policy chose: up to
the first end-of-sequence token, and that one too, since ending is a choice that has to be learned.

## Problem

Write `completion_mask(tokens, eos)`: 1 up to and including the first `eos` of each row, 0 after it.

## Input

- tokens: (N, T) whole numbers.
- eos: the end-of-sequence token.

## Output

(N, T) of numbers 0 and 1; a row without `eos` was cut off and is 1 everywhere.

## Examples

    completion_mask([[5, 0, 3], [5, 4, 3]], 0)
    -> [[1, 1, 0], [1, 1, 1]]

the end counts

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

TRL `GRPOTrainer._generate_and_score_completions`.

## See also

- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/completion_mask
"""

import numpy as np


def completion_mask(tokens, eos):
    """1 up to and including the first end-of-sequence token, 0 after it."""
    raise NotImplementedError("aggregation/completion_mask")
