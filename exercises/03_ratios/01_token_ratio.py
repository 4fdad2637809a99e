"""How much likelier has this token become?  (easy, 1 point)

## Background

A language model is a policy: it gives every token that could come next a probability. GRPO lets the
policy write answers (completions) and then changes it in several small steps. After the first step,
the policy is no longer the one that wrote them. The ratio of a token says how much likelier the
policy would write it now: 1 means that nothing has changed, 1.2 that the token is a fifth likelier.
Every method of this chapter looks at this number. Models give log-probabilities, because a
probability may be too small for a floating-point number while its logarithm is not.

## Problem

Write `token_ratio(log_probs, old_log_probs, mask)`. For every token,

    r = πθ / πold = exp(log πθ - log πold)

πθ is the probability of the token under the policy as it is now, πold the one under the policy that
wrote it. Completions have different lengths, so they are padded to T entries. The mask is 1 where
an entry is a token. Where it is 0, the entry is padding, and the result there is 1, whatever the
padding holds: it may be NaN or infinite in both arrays.

## Input

- log_probs: log πθ of each token, in nats; shape (N, T); from -1000 to 0; where mask is 0 it may
  hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- old_log_probs: log πold of the same tokens; shape (N, T); from -1000 to 0; where mask is 0 it may
  hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.

## Output

(N, T) ratios.

## Examples

    token_ratio([[-1.0, -2.5, 9.0]], [[-1.5, -2.0, 7.0]], [[1, 1, 0]])
    -> [[1.64872, 0.606531, 1]]

The first token's log-probability rose by 0.5, so its ratio is exp(0.5); the second one's fell by
0.5, which gives exp(-0.5); the third entry is padding.

## Constraints

- T may be 0.
- N is at least 1.
- Every number in log_probs and old_log_probs is 0 or at least 1e-15 in size.
- The two log-probabilities of a token differ by at most 700.
- A log-probability of -800 is a number like any other, though exp(-800) alone would be 0.

## Notes

Trainers leave the padding as it comes out and drop it when they average.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Schulman et al. 2017, sec. 3 (arXiv:1707.06347).

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/token_ratio
"""

import numpy as np


def token_ratio(log_probs, old_log_probs, mask):
    """The ratio of each token, 1 on padding."""
    raise NotImplementedError("ratios/token_ratio")
