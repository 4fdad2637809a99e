"""The way back into the table  (easy, 1 point)

## Background

The policy of our small tasks is a table with a row for every state and a column for every token.
Computing the loss, a trainer reads table[state, token] for every token of the batch: a look-up.
Going backward, the loss has a derivative for each of these readings, and an entry that was read
several times gets the sum of its derivatives. So each weight is added where it was read: the
look-up, turned over.

## Problem

Write `scatter_add(weights, states, tokens, n_states, n_tokens)`, which returns a table:

    table[s, a] = Σ of the weights[n] with states[n] = s and tokens[n] = a

An entry that comes several times gets the sum of all its weights; an entry that never comes is 0.
The batch may be empty: then weights, states and tokens are NumPy arrays of length 0, those of
states and tokens with whole numbers for a type, and the whole table is 0.

## Input

- weights: what is to be added; shape (N,); from -10000 to 10000.
- states: the row of each weight; shape (N,); whole, from 0 to S - 1.
- tokens: the column of each weight; shape (N,); whole, from 0 to V - 1.
- n_states: S, the number of rows of the table, from 1.
- n_tokens: V, the number of its columns, from 1.

## Output

An array of shape (n_states, n_tokens).

## Examples

    scatter_add([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 2], 2, 3)
    -> [[1, 0, 0], [2, 0, 3]]

1 goes to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2. All other entries are 0.

    scatter_add([1.0, 2.0], [1, 1], [0, 0], 2, 2)
    -> [[0, 0], [3, 0]]

Both weights belong to row 1, column 0: 1 + 2 = 3.

## Constraints

- N may be 0.
- S and V are at least 1.
- Every number in weights is 0 or at least 1e-15 in size.

## Notes

PyTorch calls it scatter_add or index_put with accumulate=True; it is the backward pass of an
embedding.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

grpo_ref.learning.policies.table, `scatter_add`.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/scatter_add
"""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Add each weight to the entry of its state and token."""
    raise NotImplementedError("training/scatter_add")
