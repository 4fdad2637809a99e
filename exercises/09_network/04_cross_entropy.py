"""Learning by imitation  (medium, 2 points)

## Background

Before a model is rewarded it learns to speak, by imitation: it reads examples, and every token of
an example is made likelier after what came before it. The number that falls on the way is the
cross-entropy, the mean of -log π(token). It is a policy gradient with the simplest of all
advantages: whatever stands in the example is good. Pretraining, fine-tuning on chosen answers and
the first stage of nearly every recipe for reasoning models are this loss; they differ in what is
masked. Prompts are not learned, and padding is not either.

## Problem

Write `cross_entropy(logits, tokens, mask)`: the loss, and its slope with respect to the logits,

    loss = -Σ m log π(token) / Σ m
    ∂loss/∂z[b, t, a] = m[b, t] (π[b, t, a] - 1[a = tokens[b, t]]) / Σ m

π[b, t] is the softmax of the row z[b, t] of logits, and π(token) its entry for the token that
stands there. 1[a = token] is 1 for that token and 0 for all others. The sums run over all places of
all examples, so that every token of the batch counts the same. Logits may be large: a difference of
a thousand is a probability of 0, not an overflow, and its logarithm is about -1000, not -∞.

## Input

- logits: z, what the network says of each place, one row of V numbers; shape (B, T, V); from -1000
  to 1000.
- tokens: the token that stands in each place of the example; shape (B, T); whole, from 0 to V - 1.
- mask: m, 1 where a token is to be learned, 0 on prompt and padding; shape (B, T); numbers or truth
  values; the zeros may stand anywhere, and a row may be all zeros.

## Output

A tuple: the loss, a number in nats, and its slope of shape (B, T, V), which is 0 where the mask is
0.

## Examples

    cross_entropy([[[0.0, 0.0]]], [[0]], [[1]])
    -> (0.6931471805599453, [[[-0.5, 0.5]]])

π = 1/2, 1/2, so the loss is log 2 = 0.693147, and the slope 1/2 - 1 and 1/2.

    cross_entropy(
        [[[5.0, -5.0], [0.0, 0.0]], [[1.0986122886681098, 0.0], [7.0, 7.0]]],
        [[1, 0], [1, 0]],
        [[0, 1], [1, 0]],
    )
    -> (1.0397207708399179, [[[0, 0], [-0.25, 0.25]], [[0.375, -0.375], [0, 0]]])

Two places count, one of each example, with -log 1/2 and -log 1/4: the mean is log 8 / 2 = 1.03972.
Their slopes are half of (1/2 - 1, 1/2) and of (3/4, 1/4 - 1); the others are 0.

## Constraints

- B, T and V are at least 1.
- Every number in logits is 0 or at least 1e-15 in size.
- At least one entry of the mask is 1.
- tokens[b, t] is the token that the row logits[b, t] speaks of: nothing has to be shifted here.
- Logits and tokens are as described where the mask is 0, too, but do not matter there.

## Notes

PyTorch's `cross_entropy` marks what is not learned by the token -100 (`ignore_index`) and takes the
same mean. A network that knows nothing has a loss of log V. grpo_ref computes this in
grpo_ref.learning.pretraining.likelihood_gradient, by the policy gradient of chapter 7.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude (of each array
by itself), and by 1e-09 where all expected values are 0; no test asks for a value that rounding
decides, such as what is left where numbers cancel. There are no points until the examples above are
right; then up to half of them for the tests that pass, and all of them when every test passes.

## Source

Goodfellow, Bengio and Courville, Deep Learning, sec. 5.5 and 6.2.2.

## See also

- notebooks/11_a_transformer_by_hand.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade network/cross_entropy
"""

import numpy as np


def cross_entropy(logits, tokens, mask):
    """The mean of -log π over the tokens that count, and its slope."""
    raise NotImplementedError("network/cross_entropy")
