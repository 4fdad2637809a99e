"""How much likelier has this token become?  (easy, 1 point)

## Background

The completions were written by the policy as it was. The ratio says how much likelier each of their
tokens is under the policy as it is now; everything that clips looks at this number.

## Problem

Write `token_ratio(log_probs, old_log_probs, mask)`:

    r = πθ / πold = exp(log πθ - log πold),    and 1 on padding

## Input

- log_probs, old_log_probs: (N, T) log-probabilities of the sampled tokens, in nats; padding holds
  arbitrary numbers.
- mask: (N, T) 1 on tokens, 0 on padding.

## Output

(N, T) ratios.

## Examples

    token_ratio([[-0.510826, -1.60944, -0.105361]], [[-0.693147, -0.916291, -2.30259]], [[1, 1, 0]])
    -> [[1.2, 0.5, 1]]

0.6/0.5, 0.2/0.4, and 1 where there is no token

## Constraints

- A log-probability of -800 is a number like any other: exp of it alone would be 0.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

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
