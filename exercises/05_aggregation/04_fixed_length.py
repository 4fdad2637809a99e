"""A constant instead of the length  (easy, 1 point)

## Background

GRPO divides the sum over the tokens of an answer (a completion) by the length of that answer. So in
a long wrong answer each token is blamed little, in a short one much, and wrong answers grow longer
during training. Dr. GRPO divides by the same constant for all completions, however long they are:
the budget, the largest number of tokens that the model is allowed to write. Then a token's weight
does not depend on the length of the completion it stands in.

## Problem

Write `fixed_length_mean(values, mask, max_length)`:

    1/N Σᵢ ( 1/L Σₜ mᵢₜ vᵢₜ ),    L = max_length for every completion

N is the number of completions, which are the rows; v are the values, m is the mask, which says what
is a token. Where m is 0 stands padding: it only fills a row up, and what `values` holds there never
matters, be it NaN or infinity. A completion without any token adds 0 and is still one of the N. L
is divided by as it is given, whether the rows are shorter, as in a batch without long completions,
or longer.

## Input

- values: one per token, one row per completion; shape (N, T); from -1e+06 to 1e+06; where mask is 0
  it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.
- max_length: L, the budget in tokens; it may be smaller or larger than T; whole, from 1 to 5000; 0
  or -1 must be refused with a ValueError.

## Output

A number; 0 if there is no token at all.

## Examples

    fixed_length_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 4)
    -> 1.5

The sums 6 and 6 of the rows, each divided by 4, have the mean 1.5. The two 99 are padding.

## Constraints

- T may be 0.
- N is at least 1.
- Every number in values is 0 or at least 1e-15 in size.
- Raise ValueError if max_length is less than 1.

## Notes

TRL's `loss_type="dr_grpo"` changes only this; for Dr. GRPO the advantages must also be centered
only, with `scale_rewards="none"`. verl's `seq-mean-token-sum-norm` divides by T unless
`loss_scale_factor` is set. The function of this package gives the weight of each token, m / (N L).

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `loss_type="dr_grpo"`.

## See also

- grpo_ref.fixed_length, the same in this package: look at it when you are done.
- notebooks/05_three_pictures_of_W.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade aggregation/fixed_length
"""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Sum over tokens, divided by completions times the budget."""
    raise NotImplementedError("aggregation/fixed_length")
