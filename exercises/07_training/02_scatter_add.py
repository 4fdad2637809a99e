"""The way back into the table

Easy, 1 point. GRADING.md says how answers are graded.

The policy of our small tasks is a table with a row for every state and a column for every token.
Computing the loss, a trainer reads table[state, token] for every token of the batch: a look-up.
Going backward, the loss has a derivative for each of these readings, and an entry that was read
several times gets the sum of its derivatives. So each weight is added where it was read: the
look-up, turned over.

## Your task

Write `scatter_add(weights, states, tokens, n_states, n_tokens)`.

Write `scatter_add(weights, states, tokens, n_states, n_tokens)`, which returns a table:

    table[s, a] = Σ of the weights[n] with states[n] = s and tokens[n] = a

An entry that comes several times gets the sum of all its weights; an entry that never comes is 0.
The batch may be empty: then weights, states and tokens are NumPy arrays of length 0, those of
states and tokens with whole numbers for a type, and the whole table is 0.

| argument   | meaning                   | shape | values                                     |
| ---------- | ------------------------- | ----- | ------------------------------------------ |
| `weights`  | what is to be added       | (N,)  | −1e4 to 1e4                                |
| `states`   | the row of each weight    | (N,)  | integers, 0 to S - 1                       |
| `tokens`   | the column of each weight | (N,)  | integers, 0 to V - 1                       |
| `n_states` |                           |       | S, the number of rows of the table, from 1 |
| `n_tokens` |                           |       | V, the number of its columns, from 1       |

* N may be 0.
* S and V are at least 1.

An array of shape (n_states, n_tokens).

## Examples

    >>> scatter_add([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 2], 2, 3)
    [[1, 0, 0], [2, 0, 3]]

1 goes to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2. All other entries are 0.

    >>> scatter_add([1.0, 2.0], [1, 1], [0, 0], 2, 2)
    [[0, 0], [3, 0]]

Both weights belong to row 1, column 0: 1 + 2 = 3.

## When it is solved

PyTorch calls it scatter_add or index_put with accumulate=True; it is the backward pass of an
embedding.

## See also

* Source: grpo_ref.learning.policies.table, `scatter_add`.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/scatter_add
"""

import numpy as np


def scatter_add(weights, states, tokens, n_states, n_tokens):
    """Add each weight to the entry of its state and token."""
    raise NotImplementedError("training/scatter_add")
