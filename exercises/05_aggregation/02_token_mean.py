"""Every token counts the same  (easy, 1 point)

## Background

A training step has one number per token that the model wrote, for example how well it did there,
and needs one number for the whole batch: the average. But which one? The answers of the model, the
completions, have different lengths. The token mean counts every token of the batch the same, so a
completion of 1000 tokens counts a hundred times as much as one of 10. It was introduced because
averaging each completion by itself makes the tokens of long answers count too little: neither good
reasoning nor empty talk in them was learned from as it should be.

## Problem

Write `token_mean(values, mask)`, the mean of `values` over all tokens of the batch:

    Σ m v / Σ m

Both sums run over all rows and columns. v are the values, one row per completion; m is the mask,
which says what is a token. Where m is 0 stands padding: it only fills a row up, is not counted, and
what `values` holds there never matters, be it NaN or infinity. If the batch has no token at all,
the result is 0.

## Input

- values: one per token, one row per completion; shape (N, T); from -1e+06 to 1e+06; where mask is 0
  it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.

## Output

A number; 0 if there is no token.

## Examples

    token_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    -> 3.0

Four tokens: (1 + 2 + 3 + 6) / 4. The two 99 are padding.

## Constraints

- T may be 0.
- N is at least 1.
- Every number in values is 0 or at least 1e-15 in size.

## Notes

This is verl's default, `token-mean`, and TRL's `loss_type="bnpo"`. TRL's `loss_type="dapo"` counts
the tokens of a whole training step instead, which may consist of several batches. The function of
this package gives the weights m / Σ m, to be multiplied by the values and summed. The paper of
DAPO, from which the trainers took this average, divides by the tokens of each group instead, see
`aggregation/group_token_mean`.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

verl `token-mean`; TRL `bnpo`; after DAPO (arXiv:2503.14476).

## See also

- grpo_ref.token_mean, the same in this package: look at it when you are done.
- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/token_mean
"""

import numpy as np


def token_mean(values, mask):
    """Mean over all tokens of the batch."""
    raise NotImplementedError("aggregation/token_mean")
