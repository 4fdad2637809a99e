"""Log-probabilities that do not overflow  (easy, 1 point)

## Background

A language model reads a text and gives one number to every token of its vocabulary: the logits. The
larger a token's logit, the likelier that token comes next. The softmax turns the logits into the
probabilities πₐ = exp(zₐ) / Σ_b exp(z_b), and these are the policy, which reinforcement learning
trains. Nearly every formula of this course needs their logarithms. On paper one could take the
softmax first and its logarithm afterwards. In a computer exp(1000) is infinite and exp(-1000) is 0,
so that way ends in NaN or in -inf, although the right answer is an ordinary number.

## Problem

Write `log_softmax(logits)`, the logarithm of the softmax along the last axis:

    log πₐ = zₐ - log Σ_b exp(z_b)

The last axis is the vocabulary. Whatever axes come before it, each row along the last one is a
distribution of its own: its largest logit says nothing of the other rows, which may lie a thousand
higher or lower. The logarithm is the natural one.

## Input

- logits: z, one number per token of the vocabulary; shape (V,) or (N, V) or (B, N, V); from -10000
  to 10000.

## Output

An array of the same shape, in nats; no number in it is positive.

## Examples

    log_softmax([[0.0, 0.0]])
    -> [[-0.693147, -0.693147]]

Each of the two has probability 1/2, and log 1/2 = -0.693147.

    log_softmax([1.09861, 0])
    -> [-0.287682, -1.38629]

exp(log 3) = 3 and exp(0) = 1: odds of 3 to 1, so log 3/4 and log 1/4. One row without other axes.

## Constraints

- B, N and V are at least 1.
- Every number in logits is 0 or at least 1e-15 in size.
- Every result is finite, however far apart the logits are: nothing overflows, and a very unlikely
  token gets a large negative number, not -inf.
- A vocabulary of one token has the log-probability 0. No axis is empty.

## Notes

TRL (`selective_log_softmax`) and verl (`logprobs_from_logits`) subtract the log of the sum in the
same way.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Goodfellow, Bengio and Courville, Deep Learning, sec. 4.1 (overflow and underflow).

## See also

- grpo_ref.learning.policies.table.log_softmax, the same in this package: look at it when you are
  done.
- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/log_softmax
"""

import numpy as np


def log_softmax(logits):
    """Log-probabilities along the last axis."""
    raise NotImplementedError("probabilities/log_softmax")
