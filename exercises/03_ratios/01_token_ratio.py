"""How much likelier has this token become?

Easy, 1 point. GRADING.md says how answers are graded.

A language model is a policy: it gives every token that could come next a probability. GRPO lets the
policy write answers (completions) and then changes it in several small steps. After the first step,
the policy is no longer the one that wrote them. The ratio of a token says how much likelier the
policy would write it now: 1 means that nothing has changed, 1.2 that the token is a fifth likelier.
Every method of this chapter looks at this number. Models give log-probabilities, because a
probability may be too small for a floating-point number while its logarithm is not.

## Your task

Write `token_ratio(log_probs, old_log_probs, mask)`.

Write `token_ratio(log_probs, old_log_probs, mask)`. For every token,

    r = πθ / πold = exp(log πθ - log πold)

πθ is the probability of the token under the policy as it is now, πold the one under the policy that
wrote it. Completions have different lengths, so they are padded to T entries. The mask is 1 where
an entry is a token. Where it is 0, the entry is padding, and the result there is 1, whatever the
padding holds: it may be NaN or infinite in both arrays.

| argument        | meaning                       | shape  | values     |
| --------------- | ----------------------------- | ------ | ---------- |
| `log_probs`     | log πθ of each token, in nats | (N, T) | −1000 to 0 |
| `old_log_probs` | log πold of the same tokens   | (N, T) | −1000 to 0 |
| `mask`          | 1 on tokens, 0 on padding     | (N, T) | 0 or 1     |

* `log_probs` and `old_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.
* The two log-probabilities of a token differ by at most 700.

(N, T) ratios.

* A log-probability of -800 is a number like any other, though exp(-800) alone would be 0.

## Examples

    >>> token_ratio([[-1.0, -2.5, 9.0]], [[-1.5, -2.0, 7.0]], [[1, 1, 0]])
    [[1.64872, 0.606531, 1]]

The first token's log-probability rose by 0.5, so its ratio is exp(0.5); the second one's fell by
0.5, which gives exp(-0.5); the third entry is padding.

## When it is solved

Trainers leave the padding as it comes out and drop it when they average.

## See also

* Source: Schulman et al. 2017, sec. 3 (arXiv:1707.06347).
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/token_ratio
"""

import numpy as np


def token_ratio(log_probs, old_log_probs, mask):
    """The ratio of each token, 1 on padding."""
    raise NotImplementedError("ratios/token_ratio")
