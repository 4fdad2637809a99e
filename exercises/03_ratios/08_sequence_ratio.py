"""One ratio for the whole answer

Medium, 2 points. GRADING.md says how answers are graded.

The reward is given to a whole answer (a completion), not to a token; so GSPO takes one ratio for
the whole answer too. How much likelier would the policy (the language model) write it now than when
it did? The probability of an answer is the product of those of its tokens, so the obvious choice is
the product of the token ratios. It explodes or vanishes with the length: 1.01 to the power of 1000
is 20959. GSPO takes the geometric mean of the token ratios instead, which is a number of the size
of a single token's ratio, whatever the length.

## Your task

Write `sequence_ratio(log_ratio, mask)`.

Write `sequence_ratio(log_ratio, mask)`, one ratio for each completion:

    s = exp( 1/|o| Σₜ log rₜ )

The sum runs over the tokens of the completion, and |o| is how many there are. log rₜ = log πθ - log
πold is the log-ratio of token t. Completions have different lengths, so they are padded to T
entries. The mask is 1 where an entry is a token. Where it is 0, the entry is padding: it counts
neither in the sum nor in |o|, even if it is NaN or infinite.

| argument    | meaning                                  | shape  | values      |
| ----------- | ---------------------------------------- | ------ | ----------- |
| `log_ratio` | log πθ - log πold of each token, in nats | (N, T) | −600 to 600 |
| `mask`      | 1 on tokens, 0 on padding                | (N, T) | 0 or 1      |

* `log_ratio` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and every row has a one.
* N and T are at least 1.

(N,) ratios.

* The product of the token ratios may be too large for a floating-point number; s never is.

## Examples

    >>> sequence_ratio([[0.1, 0.3, 9], [0.6, 0, 0.3]], [[1, 1, 0], [1, 1, 1]])
    [1.2214, 1.34986]

First completion: (0.1 + 0.3) / 2 = 0.2, and exp(0.2) = 1.2214; the 9 is padding. Second one: (0.6 +
0 + 0.3) / 3 = 0.3.

## When it is solved

TRL calls this `importance_sampling_level="sequence"`. With so small a spread of ratios GSPO clips
much closer to 1: at 1 - 0.0003 and 1 + 0.0004.

## See also

* Source: Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071).
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/sequence_ratio
"""

import numpy as np


def sequence_ratio(log_ratio, mask):
    """The geometric mean of the token ratios of each completion."""
    raise NotImplementedError("ratios/sequence_ratio")
