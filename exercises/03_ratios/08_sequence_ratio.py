"""One ratio for the whole answer  (medium, 2 points)

## Background

The reward is given to a whole answer (a completion), not to a token; so GSPO takes one ratio for
the whole answer too. How much likelier would the policy (the language model) write it now than when
it did? The probability of an answer is the product of those of its tokens, so the obvious choice is
the product of the token ratios. It explodes or vanishes with the length: 1.01 to the power of 1000
is 20959. GSPO takes the geometric mean of the token ratios instead, which is a number of the size
of a single token's ratio, whatever the length.

## Problem

Write `sequence_ratio(log_ratio, mask)`, one ratio for each completion:

    s = exp( 1/|o| Σₜ log rₜ )

The sum runs over the tokens of the completion, and |o| is how many there are. log rₜ = log πθ - log
πold is the log-ratio of token t. Completions have different lengths, so they are padded to T
entries. The mask is 1 where an entry is a token. Where it is 0, the entry is padding: it counts
neither in the sum nor in |o|, even if it is NaN or infinite.

## Input

- log_ratio: log πθ - log πold of each token, in nats; shape (N, T); from -600 to 600; where mask is
  0 it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and every row has a one.

## Output

(N,) ratios.

## Examples

    sequence_ratio([[0.1, 0.3, 9], [0.6, 0, 0.3]], [[1, 1, 0], [1, 1, 1]])
    -> [1.2214, 1.34986]

First completion: (0.1 + 0.3) / 2 = 0.2, and exp(0.2) = 1.2214; the 9 is padding. Second one: (0.6 +
0 + 0.3) / 3 = 0.3.

## Constraints

- N and T are at least 1.
- Every number in log_ratio is 0 or at least 1e-15 in size.
- The product of the token ratios may be too large for a floating-point number; s never is.

## Notes

TRL calls this `importance_sampling_level="sequence"`. With so small a spread of ratios GSPO clips
much closer to 1: at 1 - 0.0003 and 1 + 0.0004.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071).

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/sequence_ratio
"""

import numpy as np


def sequence_ratio(log_ratio, mask):
    """The geometric mean of the token ratios of each completion."""
    raise NotImplementedError("ratios/sequence_ratio")
