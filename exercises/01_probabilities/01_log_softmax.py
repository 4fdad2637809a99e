"""Log-probabilities that do not overflow

Easy, 1 point. GRADING.md says how answers are graded.

A language model reads a text and gives one number to every token of its vocabulary: the logits. The
larger a token's logit, the likelier that token comes next. The softmax turns the logits into the
probabilities πₐ = exp(zₐ) / Σ_b exp(z_b), and these are the policy, which reinforcement learning
trains. Nearly every formula of this course needs their logarithms. On paper one could take the
softmax first and its logarithm afterwards. In a computer exp(1000) is infinite and exp(-1000) is 0,
so that way ends in NaN or in -inf, although the right answer is an ordinary number.

## Your task

Write `log_softmax(logits)`.

Write `log_softmax(logits)`, the logarithm of the softmax along the last axis:

    log πₐ = zₐ - log Σ_b exp(z_b)

The last axis is the vocabulary. Whatever axes come before it, each row along the last one is a
distribution of its own: its largest logit says nothing of the other rows, which may lie a thousand
higher or lower. The logarithm is the natural one.

| argument | meaning                                   | shape                     | values      |
| -------- | ----------------------------------------- | ------------------------- | ----------- |
| `logits` | z, one number per token of the vocabulary | (V,), (N, V) or (B, N, V) | −1e4 to 1e4 |

* B, N and V are at least 1.

An array of the same shape, in nats; no number in it is positive.

* Every result is finite, however far apart the logits are: nothing overflows, and a very unlikely
  token gets a large negative number, not -inf.
* A vocabulary of one token has the log-probability 0. No axis is empty.

## Examples

    >>> log_softmax([[0.0, 0.0]])
    [[-0.693147, -0.693147]]

Each of the two has probability 1/2, and log 1/2 = -0.693147.

    >>> log_softmax([1.09861, 0])
    [-0.287682, -1.38629]

exp(log 3) = 3 and exp(0) = 1: odds of 3 to 1, so log 3/4 and log 1/4. One row without other axes.

## When it is solved

TRL (`selective_log_softmax`) and verl (`logprobs_from_logits`) subtract the log of the sum in the
same way.

## See also

* Source: Goodfellow, Bengio and Courville, Deep Learning, sec. 4.1 (overflow and underflow).
* `grpo_ref.learning.policies.table.log_softmax` is the same function in this package. Look at it
  when you are done.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/log_softmax
"""

import numpy as np


def log_softmax(logits):
    """Log-probabilities along the last axis."""
    raise NotImplementedError("probabilities/log_softmax")
