"""Scatter-add

Easy, 1 point. GRADING.md says how answers are graded.

In the small tasks of this course, the policy is a table with one row per state and one column per
token. A state is the situation in which the policy chooses a token. To compute the loss, a trainer
reads `table[state, token]` for every token of the batch.

The backward pass goes the other way. The loss has a derivative with respect to each reading, here
called the weight of the reading. If an entry of the table was read several times, its derivative is
the sum of these weights.

## Your task

Write `scatter_add(weights, states, tokens, n_states, n_tokens)`.

Return the table of the sums:

    table[s, a] = Σ of the weights[n] with states[n] = s and tokens[n] = a

s is a row of the table, a is a column, and n runs over all readings. `states[n]` and `tokens[n]`
are the row and the column of `weights[n]`. An entry without a weight is 0. The table has `n_states`
rows and `n_tokens` columns, even if the last ones have no weight.

| argument   | meaning                               | shape | values               |
| ---------- | ------------------------------------- | ----- | -------------------- |
| `weights`  | the numbers to add                    | (N,)  | −1e4 to 1e4          |
| `states`   | row of each weight in the table       | (N,)  | integers, 0 to S - 1 |
| `tokens`   | column of each weight in the table    | (N,)  | integers, 0 to V - 1 |
| `n_states` | S, the number of rows of the table    |       | integer, at least 1  |
| `n_tokens` | V, the number of columns of the table |       | integer, at least 1  |

* N may be 0.
* S and V are at least 1.

Return an array of shape (`n_states`, `n_tokens`). If N is 0, the batch is empty and the whole table
is 0. `weights`, `states` and `tokens` are then NumPy arrays of length 0, the latter two of
integers.

## Examples

**Three different entries.**

    >>> scatter_add([1, 2, 3], [0, 1, 1], [0, 0, 2], 2, 3)
    [[1, 0, 0], [2, 0, 3]]

1 belongs to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2. All other entries are 0.

**The same entry twice.**

    >>> scatter_add([1, 2], [1, 1], [0, 0], 2, 2)
    [[0, 0], [3, 0]]

Both weights belong to row 1, column 0: 1 + 2 = 3.

**Weights of both signs, and rows without weights.**

    >>> scatter_add([1, -3, 0.5], [0, 0, 0], [1, 1, 0], 3, 2)
    [[0.5, -2], [0, 0], [0, 0]]

Column 1 of row 0 gets 1 - 3 = -2, and column 0 gets 0.5. Rows 1 and 2 have no weights.

## When it is solved

This is the backward pass of a table lookup. The embedding of a neural network is such a table: in
PyTorch, you write the same sum as `index_put_` with `accumulate=True`.

Next: `training/update`, one training step of a table.

## See also

* Source: PyTorch, torch.Tensor.index_put_ with accumulate=True;
  grpo_ref.learning.policies.table.scatter_add.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/scatter_add
"""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Return a table in which each weight is added to the entry of its state and token."""
    raise NotImplementedError("training/scatter_add")
