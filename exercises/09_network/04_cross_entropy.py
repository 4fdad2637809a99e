"""Cross-entropy and its gradient

Medium, 2 points. GRADING.md says how answers are graded.

Before a model is trained with rewards, it learns by imitation. It reads example texts, and each
token of an example becomes more likely after the tokens before it. The loss is the cross-entropy,
the mean of -log π(token).

This is a policy gradient with the same advantage, 1, for every token of the examples. Pretraining
and supervised fine-tuning differ in the mask: fine-tuning usually excludes the prompts, and padding
never counts.

## Your task

Write `cross_entropy(logits, tokens, mask)`.

Return the loss and its gradient with respect to the logits:

    loss = -Σ m log π(token) / Σ m
    ∂loss/∂z[b, t, a] = m[b, t] (π[b, t, a] - 1[a = tokens[b, t]]) / Σ m

b is the example, t the position in it, and a a token of the vocabulary. z is `logits` and m is
`mask`. π[b, t] is the softmax of the row z[b, t], and π(token) is its entry at tokens[b, t]. 1[a =
tokens[b, t]] is 1 for that token and 0 for all others. The sums run over all positions of all
examples, so every token of the batch counts the same.

The row logits[b, t] already belongs to tokens[b, t]: do not shift anything. Where m is 0, logits
and tokens are ordinary numbers that do not count.

If two logits differ by 1000, the smaller one has probability 0 after rounding, but its
log-probability is about -1000, not -∞.

| argument | meaning                              | shape     | values               |
| -------- | ------------------------------------ | --------- | -------------------- |
| `logits` | z, one row of V numbers per position | (B, T, V) | −1000 to 1000        |
| `tokens` | the token at each position           | (B, T)    | integers, 0 to V - 1 |
| `mask`   | m, 1 on tokens to learn, else 0      | (B, T)    | 0 or 1               |

* `mask`: zeros may be anywhere, and a row may be all zeros.
* B, T and V are at least 1.
* At least one entry of `mask` is 1.
* The loss is 0 or at least 1e-6.

Return a tuple: the loss, a number in nats (units of the natural logarithm), and its gradient of
shape (B, T, V).

## Examples

**A fair coin.**

    >>> cross_entropy([[[0.0, 0.0]]], [[0]], [[1]])
    (0.693147, [[[-0.5, 0.5]]])

π is 1/2 for both tokens. The loss is log 2, and the gradient is 1/2 - 1 and 1/2 - 0.

**A long and a short example.** 1.0986123 is log 3, so π is 3/4 and 1/4.

    >>> cross_entropy([[[1.0986123, 0.0], [1.0986123, 0.0], [1.0986123, 0.0]],
    ...                [[1.0986123, 0.0], [5.0, -5.0], [0.0, 0.0]]],
    ...               [[0, 0, 0], [1, 0, 1]],
    ...               [[1, 1, 1], [1, 0, 0]])
    (0.562335, [[[-0.0625, 0.0625], [-0.0625, 0.0625], [-0.0625, 0.0625]],
                [[0.1875, -0.1875], [0, 0], [0, 0]]])

Four tokens count. Three have -log 3/4 = 0.287682 and one has -log 1/4 = 1.386294: the mean is
0.562335. The gradients are (3/4 - 1, 1/4)/4 for the first three and (3/4, 1/4 - 1)/4 for the
fourth.

**Large logits.**

    >>> cross_entropy([[[1000.0, 0.0], [0.0, -1000.0]]], [[1, 0]], [[1, 1]])
    (500, [[[0.5, -0.5], [0, 0]]])

The log-probabilities are -1000 and 0, so the mean of their negatives is 500.

## When it is solved

PyTorch's `cross_entropy` takes the same mean. Tokens that do not count are set to -100
(`ignore_index`) instead of a mask. A model that gives all V tokens the same probability has the
loss log V. In grpo_ref, `grpo_ref.learning.pretraining.likelihood_gradient` computes this gradient.

Next: `network/next_token`, which samples from a network.

## See also

* Source: Goodfellow, Bengio and Courville, Deep Learning, sec. 5.5 and 6.2.2.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/cross_entropy
"""

import numpy as np


def cross_entropy(logits, tokens, mask):
    """The mean of -log π over the tokens that count, and its gradient."""
    raise NotImplementedError("network/cross_entropy")
