"""Every answer counts the same  (easy, 1 point)

## Background

A training step has one number per token that the model wrote and needs one number for the whole
batch. GRPO averages twice: first over the tokens of each answer (each completion), then over the
completions. So every completion counts the same, however long it is, and a token of a long
completion counts less than one of a short completion. The consequence is known as length bias: in a
long wrong answer each token is hardly blamed, so wrong answers tend to grow longer during training.

## Problem

Write `sequence_mean(values, mask)`, the mean over completions of the mean over their tokens:

    1/N Σᵢ ( 1/|oᵢ| Σₜ mᵢₜ vᵢₜ )

N is the number of completions, which are the rows; v are the values, m is the mask, which says what
is a token; |oᵢ| is the number of tokens of completion i, the sum of its row of the mask. Where m is
0 stands padding: it only fills a row up, is not counted, and what `values` holds there never
matters, be it NaN or infinity. A completion without any token adds 0 to the outer sum and is still
one of the N. A token whose value is 0 is a token like any other.

## Input

- values: one per token, one row per completion; shape (N, T); from -1e+06 to 1e+06; where mask is 0
  it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.

## Output

A number; 0 if there is no token at all.

## Examples

    sequence_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    -> 4.0

The rows have the means (1 + 2 + 3) / 3 = 2 and 6 / 1 = 6; the mean of these is 4. The two 99 are
padding.

## Constraints

- T may be 0.
- N is at least 1.
- Every number in values is 0 or at least 1e-15 in size.

## Notes

TRL counts a completion without tokens as one of the N, as here; verl leaves it out of N. Dr. GRPO
divides by a constant instead of |oᵢ|, which takes the length bias away: see
`aggregation/fixed_length`. The function of this package gives the weight of each token, m / (N
|oᵢ|).

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.

## See also

- grpo_ref.sequence_mean_token_mean, the same in this package: look at it when you are done.
- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/sequence_mean
"""

import numpy as np


def sequence_mean(values, mask):
    """Mean over completions of the mean over their tokens."""
    raise NotImplementedError("aggregation/sequence_mean")
