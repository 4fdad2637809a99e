"""One ratio for the whole answer  (medium, 2 points)

## Background

The reward is given to an answer, not to a token; so GSPO takes the ratio of the answer too. The
plain product of the token ratios explodes with the length, so it takes their geometric mean.

## Problem

Write `sequence_ratio(log_ratio, mask)`, one ratio per completion:

    s = exp( 1/|o| Σₜ log rₜ ),    the sum over the |o| tokens of the completion

## Input

- log_ratio: (N, T) log πθ - log πold of each token; padding holds arbitrary numbers.
- mask: (N, T) 1 on tokens, 0 on padding; every row has at least one token.

## Output

(N,) ratios.

## Examples

    sequence_ratio([[0.1, 0.3, 9], [0.6, 0, 0.3]], [[1, 1, 0], [1, 1, 1]])
    -> [1.2214, 1.34986]

0.4 / 2 and 0.9 / 3

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071); TRL `importance_sampling_level="sequence"`.

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/sequence_ratio
"""

import numpy as np


def sequence_ratio(log_ratio, mask):
    """The geometric mean of the token ratios of each completion."""
    raise NotImplementedError("ratios/sequence_ratio")
