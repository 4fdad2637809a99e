"""The log-softmax

Easy, 1 point. GRADING.md says how answers are graded.

A language model reads a text and gives one number to each token of its vocabulary: the *logit* zₐ
of token a. A larger logit makes the token more likely to come next. The softmax turns the logits
into the probabilities πₐ = exp(zₐ) / Σ_b exp(z_b). These probabilities are the *policy*, which
reinforcement learning trains. Nearly every formula of this course needs their logarithms.

On paper you can compute the softmax first and take the logarithm afterwards. In a computer
exp(1000) is infinite and exp(-1000) is 0, so this order gives NaN or -inf, although the right
answer is an ordinary number.

## Your task

Write `log_softmax(logits)`.

Return the natural logarithm of the softmax along the last axis:

    log πₐ = zₐ - log Σ_b exp(z_b)

The last axis is the vocabulary, and b runs over all its tokens. Each row along the last axis is a
distribution of its own, whatever the axes before it are. The logits of one row may be thousands
larger or smaller than those of another row.

| argument | meaning                                  | shape                     | values      |
| -------- | ---------------------------------------- | ------------------------- | ----------- |
| `logits` | z, one logit per token of the vocabulary | (V,), (N, V) or (B, N, V) | −1e4 to 1e4 |

* B, N and V are at least 1.

Return an array of the same shape, in *nats*, the unit of natural logarithms. All numbers in the
array are finite and at most 0: a very unlikely token has a large negative log-probability, not
-inf.

## Examples

**Two equal logits.**

    >>> log_softmax([[0.0, 0.0]])
    [[-0.693147, -0.693147]]

Each of the two tokens has probability 1/2, and log 1/2 = -0.693147.

**One row without other axes.** The first logit is log 3.

    >>> log_softmax([1.0986123, 0.0])
    [-0.287682, -1.38629]

exp(log 3) = 3 and exp(0) = 1, so the probabilities are 3/4 and 1/4. Their logarithms are log 3/4
and log 1/4.

**Large logits, and two rows far apart.**

    >>> log_softmax([[1000.0, 1000.0], [0.0, -1000.0]])
    [[-0.693147, -0.693147], [0, -1000]]

In the first row the logits are equal, so each probability is 1/2 again. In the second row the sum
is 1 + exp(-1000). Its logarithm is 0 to all digits of a double, so the logits are already the
log-probabilities.

## When it is solved

TRL (`selective_log_softmax`) and verl (`logprobs_from_logits`) subtract the logarithm of the sum in
the same way. The next exercise selects the log-probabilities of the sampled tokens.

## See also

* Source: Goodfellow, Bengio and Courville 2016, Deep Learning, sec. 4.1 (overflow and underflow).
* `grpo_ref.learning.policies.table.log_softmax` computes the same in this package. Look at it when
  you are done.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/log_softmax
"""

import numpy as np


def log_softmax(logits):
    """Return the log-probabilities along the last axis."""
    raise NotImplementedError("probabilities/log_softmax")
