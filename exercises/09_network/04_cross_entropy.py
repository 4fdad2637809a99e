"""Learning by imitation

Medium, 2 points. GRADING.md says how answers are graded.

Before a model is rewarded it learns to speak, by imitation: it reads examples, and every token of
an example is made likelier after what came before it. The number that falls on the way is the
cross-entropy, the mean of -log π(token). It is a policy gradient with the simplest of all
advantages: whatever stands in the example is good. Pretraining, fine-tuning on chosen answers and
the first stage of nearly every recipe for reasoning models are this loss; they differ in what is
masked. Prompts are not learned, and padding is not either.

## Your task

Write `cross_entropy(logits, tokens, mask)`.

Write `cross_entropy(logits, tokens, mask)`: the loss, and its slope with respect to the logits,

    loss = -Σ m log π(token) / Σ m
    ∂loss/∂z[b, t, a] = m[b, t] (π[b, t, a] - 1[a = tokens[b, t]]) / Σ m

π[b, t] is the softmax of the row z[b, t] of logits, and π(token) its entry for the token that
stands there. 1[a = token] is 1 for that token and 0 for all others. The sums run over all places of
all examples, so that every token of the batch counts the same. Logits may be large: a difference of
a thousand is a probability of 0, not an overflow, and its logarithm is about -1000, not -∞.

* `logits`: z, what the network says of each place, one row of V numbers; (B, T, V); −1000 to 1000.
* `tokens`: the token that stands in each place of the example; (B, T); integers, 0 to V - 1.
* `mask`: m, 1 where a token is to be learned, 0 on prompt and padding; (B, T); 0 or 1.

* `mask`: zeros may be anywhere, and a row may be all zeros.
* B, T and V are at least 1.
* At least one entry of the mask is 1.

A tuple: the loss, a number in nats, and its slope of shape (B, T, V), which is 0 where the mask is
0.

* tokens[b, t] is the token that the row logits[b, t] speaks of: nothing has to be shifted here.
* Logits and tokens are as described where the mask is 0, too, but do not matter there.

## Examples

    >>> cross_entropy([[[0.0, 0.0]]], [[0]], [[1]])
    (0.6931471805599453, [[[-0.5, 0.5]]])

π = 1/2, 1/2, so the loss is log 2 = 0.693147, and the slope 1/2 - 1 and 1/2.

    >>> cross_entropy([[[5.0, -5.0], [0.0, 0.0]], [[1.0986122886681098, 0.0], [7.0, 7.0]]], [[1, 0], [1, 0]], [[0, 1], [1, 0]])
    (1.0397207708399179, [[[0, 0], [-0.25, 0.25]], [[0.375, -0.375], [0, 0]]])

Two places count, one of each example, with -log 1/2 and -log 1/4: the mean is log 8 / 2 = 1.03972.
Their slopes are half of (1/2 - 1, 1/2) and of (3/4, 1/4 - 1); the others are 0.

## When it is solved

PyTorch's `cross_entropy` marks what is not learned by the token -100 (`ignore_index`) and takes the
same mean. A network that knows nothing has a loss of log V. grpo_ref computes this in
grpo_ref.learning.pretraining.likelihood_gradient, by the policy gradient of chapter 7.

## See also

* Source: Goodfellow, Bengio and Courville, Deep Learning, sec. 5.5 and 6.2.2.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/cross_entropy
"""

import numpy as np


def cross_entropy(logits, tokens, mask):
    """The mean of -log π over the tokens that count, and its slope."""
    raise NotImplementedError("network/cross_entropy")
