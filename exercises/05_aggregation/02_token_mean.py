"""The token mean

Easy, 1 point. GRADING.md says how answers are graded.

At the end of a training step, every token of the batch has a value, for example its part of the
loss. The step needs one number. So you take an average, and the choice of the average decides how
much each token counts.

The token mean gives every token of the batch the same weight. A completion of 1000 tokens then
counts 100 times as much as a completion of 10 tokens. GRPO averages each completion first, so each
token of a long completion has a small weight. According to DAPO's paper, the policy then learns too
little from long completions.

## Your task

Write `token_mean(values, mask)`.

Return the mean of `values` over all tokens of the batch:

    Σ m v / Σ m

v stands for `values` and m for `mask`. Both sums run over all rows and columns, and padding does
not count in either. If the batch has no token, the result is 0.

| argument | meaning                               | shape  | values      |
| -------- | ------------------------------------- | ------ | ----------- |
| `values` | one per token, one row per completion | (N, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding             | (N, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.

Return a number. If T is 0, both arguments are arrays of shape (N, 0).

## Examples

**Three tokens and one.** The two values 99 are padding.

    >>> token_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    3.0

The batch has four tokens: (1 + 2 + 3 + 6) / 4 = 3. The mean of the two rows' means would be (2 + 6)
/ 2 = 4.

**Padding can be anywhere.** A row may also be all padding.

    >>> token_mean([[1, 50, 3], [9, 9, 9]], [[1, 0, 1], [0, 0, 0]])
    2.0

(1 + 3) / 2 = 2. The second row adds nothing to either sum.

**No token at all.**

    >>> token_mean([[5.0]], [[0]])
    0.0

Both sums are 0. The result is defined as 0.

## When it is solved

verl calls this average `token-mean`; it is the default. In TRL it is `loss_type="bnpo"`. TRL's
`loss_type="dapo"` counts the tokens of a whole training step, which can consist of several batches.
DAPO's paper divides by the tokens of each group instead: see `aggregation/group_token_mean`.

The library function returns the weights m / Σ m instead of the mean. If you multiply the values by
such weights, set the padding of the values to 0 first.

Next: `aggregation/sequence_mean`, GRPO's average.

## See also

* Source: verl token-mean; TRL loss_type="bnpo"; after Yu et al. 2025, DAPO (arXiv:2503.14476).
* `grpo_ref.aggregation.token_mean` computes the same in this package. Look at it when you are done.
* Step 9 of the derivation, aggregation, explains the formula.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/token_mean
"""

import numpy as np


def token_mean(values, mask):
    """Return the mean over all tokens of the batch."""
    raise NotImplementedError("aggregation/token_mean")
