"""GSPO's sequence ratio

Medium, 2 points. GRADING.md says how answers are graded.

The reward is given to a whole answer (a completion), not to a token. GSPO therefore uses one ratio
for the whole completion too. It compares the probability of the completion under the current policy
with its probability under the policy that sampled it.

The probability of a completion is the product of the probabilities of its tokens, so the obvious
ratio is the product of the token ratios. This product explodes or vanishes as the completion gets
longer: 1.01 to the power of 1000 is about 20959. GSPO uses the *geometric mean* of the token ratios
instead. It always lies between the smallest and the largest token ratio.

## Your task

Write `sequence_ratio(log_ratio, mask)`.

Return one ratio per completion:

    s = exp( 1/|o| Σₜ log rₜ )

log rₜ = log πθ - log πold is the log-ratio of token t: the difference of its log-probabilities
under the current policy and under the policy that sampled it. The sum runs over the tokens of the
completion, and |o| is the number of these tokens.

Completions have different lengths, so they are padded to T entries. `mask` is 1 where an entry is a
token and 0 where it is padding, so |o| is the sum of the completion's row of the mask. Padding does
not count, neither in the sum nor in |o|.

| argument    | meaning                                  | shape  | values      |
| ----------- | ---------------------------------------- | ------ | ----------- |
| `log_ratio` | log πθ - log πold of each token, in nats | (N, T) | −600 to 600 |
| `mask`      | 1 on tokens, 0 on padding                | (N, T) | 0 or 1      |

* `log_ratio` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and every row has a one.
* N and T are at least 1.

Return an array of shape (N,). The product of the token ratios may be too large for a floating-point
number; s never is.

## Examples

**Two completions.** The 9 is padding.

    >>> sequence_ratio([[0.1, 0.3, 9], [0.6, 0, 0.3]], [[1, 1, 0], [1, 1, 1]])
    [1.2214, 1.34986]

First completion: (0.1 + 0.3) / 2 = 0.2, and exp(0.2) = 1.2214. Second completion: (0.6 + 0 + 0.3) /
3 = 0.3.

**Padding anywhere.** The tokens are the second and the fourth entry.

    >>> sequence_ratio([[9.0, 0.5, 3.0, -0.1]], [[0, 1, 0, 1]])
    [1.2214]

The sum is 0.5 - 0.1 = 0.4 and |o| is 2, so the mean is 0.2 again.

**A product that is too large.**

    >>> sequence_ratio([[600.0, 600.0, 300.0]], [[1, 1, 1]])
    [1.40359e+217]

The product exp(1500) is infinite as a floating-point number. Its cube root, exp(500), is not.

## When it is solved

TRL calls this ratio `importance_sampling_level="sequence"`. Sequence ratios are close to 1, so GSPO
clips them in a much narrower range, from 1 - 0.0003 to 1 + 0.0004.

Next: the chapter `kl` measures the distance from the reference policy.

## See also

* Source: Zheng et al. 2025, GSPO, eq. 7 (arXiv:2507.18071).
* Step 10 of the derivation, sequence level, explains the formula.
* `grpo-ref recipes gspo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run sequence_ratio --quick` tests a claim about it.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/sequence_ratio
"""

import numpy as np


def sequence_ratio(log_ratio, mask):
    """Geometric mean of the token ratios of each completion."""
    raise NotImplementedError("ratios/sequence_ratio")
