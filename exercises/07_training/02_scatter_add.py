"""The way back into the table  (easy, 1 point)

## Background

Reading table[state, token] for every token of a batch is a look-up. Its backward pass adds each
gradient where it was read.

## Problem

Write `scatter_add(weights, states, tokens, n_states, n_tokens)`:

    result[s, a] = Σ of the weights whose state is s and whose token is a

## Input

- weights: (N,) numbers.
- states, tokens: (N,) integers.
- n_states, n_tokens: shape of the table.

## Output

(n_states, n_tokens).

## Examples

    scatter_add([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 2], 2, 3)
    -> [[1, 0, 0], [2, 0, 3]]

each at its place

## Constraints

- A state and token that come twice are added twice.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

the transpose of fancy indexing; np.add.at and np.bincount do it.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/scatter_add
"""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Add each weight to the entry of its state and token."""
    raise NotImplementedError("training/scatter_add")
