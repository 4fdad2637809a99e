"""The probability ratio of a token

Easy, 1 point. GRADING.md says how answers are graded.

A language model is a *policy*: it assigns a probability to every token that can come next. GRPO
lets the policy write answers, the *completions*, and then takes several training steps on them.
After the first step, the current policy differs from the policy that wrote the completions.

The *ratio* of a token measures this difference. A ratio of 1 means that nothing has changed. A
ratio of 1.2 means that the token is now 1.2 times as likely. Every method of this chapter uses this
number. Models return log-probabilities, because a probability can be too small for a floating-point
number while its logarithm is not.

## Your task

Write `token_ratio(log_probs, old_log_probs, mask)`.

Return one ratio per token:

    r = πθ / πold = exp(log πθ - log πold)

πθ is the probability of the token under the current policy, and πold is its probability under the
policy that wrote it. log πθ is `log_probs` and log πold is `old_log_probs`.

Completions have different lengths, so they are padded to T entries. `mask` is 1 where an entry is a
token and 0 where it is padding. The ratio of padding is 1.

| argument        | meaning                              | shape  | values     |
| --------------- | ------------------------------------ | ------ | ---------- |
| `log_probs`     | log πθ of each token, in nats        | (N, T) | −1000 to 0 |
| `old_log_probs` | log πold of the same tokens, in nats | (N, T) | −1000 to 0 |
| `mask`          | 1 on tokens, 0 on padding            | (N, T) | 0 or 1     |

* `log_probs` and `old_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.
* The two log-probabilities of a token differ by at most 700.

Return an array of shape (N, T), also if T is 0.

## Examples

**One completion with padding.**

    >>> token_ratio([[-1.0, -2.5, 9.0]], [[-1.5, -2.0, 7.0]], [[1, 1, 0]])
    [[1.64872, 0.606531, 1.0]]

The first log-probability rose by 0.5, so the ratio is exp(0.5). The second one fell by 0.5, so the
ratio is exp(-0.5). The third entry is padding.

**Very unlikely tokens.** There are two completions now. exp(-800) and exp(-801) are both 0 as
floating-point numbers.

    >>> token_ratio([[-800.0, 0.0], [-0.7, -0.2]],
    ...             [[-801.0, 5.0], [-0.7, -0.4]], [[1, 0], [1, 1]])
    [[2.71828, 1.0], [1.0, 1.2214]]

First row: exp(-800 + 801) = exp(1), then padding. Second row: exp(0) = 1 and exp(0.2).

## When it is solved

Trainers do not set the ratio of padding to 1. They leave padding as it is and omit it when they
average.

Next: `scenarios` combines the ratio of a token with its advantage.

## See also

* Source: Schulman et al. 2017, sec. 3 (arXiv:1707.06347).
* Step 3 of the derivation, importance sampling, explains the formula.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/token_ratio
"""

import numpy as np


def token_ratio(log_probs, old_log_probs, mask):
    """Ratio of each token, and 1 on padding."""
    raise NotImplementedError("ratios/token_ratio")
