"""Broken run: the full stop never moves

Medium, 2 points. GRADING.md says how answers are graded.

A small network predicts the next token of a text. It uses the embedding, a table with one row per
token, twice. At the input, the row of the current token enters the network. At the output, the
logit of each token is the product of the last layer with the row of that token. Many language
models share one table in this way.

It is trained on eight names of five letters, each with a full stop at the end. In 50 steps the loss
falls from 2.92 to 1.56 nats per token; in a healthy run, to 0.93. The full stop is always the last
token, so the network never reads it. Its row of the embedding has not changed at all.

The picture is in 08_unmoved_end.svg.

## Your task

Write `train(embedding, mix, texts, learning_rate=1.0, steps=1)`.

Find and fix the fault. One line is wrong. Any correct program passes. With E for `embedding` and W
for `mix`, the network computes after a token s

    h = tanh(E[s] W),    z[a] = h · E[a],    π(a | s) = exp(z[a]) / Σ_b exp(z[b])

The loss is the mean over all pairs of neighboring tokens in the B texts of T tokens:

    L = - 1/(B (T - 1)) Σ log π(next token | token)

Each step updates both tables, with gradients taken before the update:

    E -= learning_rate · ∂L/∂E,    W -= learning_rate · ∂L/∂W

∂L/∂E is the full derivative of L.

| argument        | meaning                             | shape  | values               |
| --------------- | ----------------------------------- | ------ | -------------------- |
| `embedding`     | E, one row per token                | (V, D) | −4 to 4              |
| `mix`           | W, weights between input and output | (D, D) | −4 to 4              |
| `texts`         | B texts of T tokens                 | (B, T) | integers, 0 to V - 1 |
| `learning_rate` | step size                           | number | 0.01 to 4            |
| `steps`         | number of steps                     | number | integer, 1 to 4      |

* D and B are at least 1.
* V and T are at least 2.

Return a tuple of two arrays: E and W after all steps.

The tolerance of this exercise is 1e-8.

## Examples

**One number per token.** The rows of E are log 3 = 1.0986123 and -log 3.

    >>> train([[1.0986123], [-1.0986123]], [[0.5]], [[0, 1]], 1.0, 1)
    ([[0.105643], [-0.723612]], [[-0.857818]])

The network reads token 0, and token 1 follows. h = tanh(1/2 · log 3) = 1/2. The logits are ±1/2 ·
log 3, so π is 3/4 and 1/4, and the gradient at the logits is (3/4, -3/4). Times h this is the
gradient of E from the output: 3/8 and -3/8. The gradient of h is 3/4 · log 3 + 3/4 · log 3, and the
derivative of tanh, 1 - h² = 3/4, leaves 9/8 · log 3. Times E[0] = log 3 this is the gradient of W.
Times W = 1/2 it is the gradient of E[0] from the input, 9/16 · log 3. So E[0] becomes 1.0986 -
0.375 - 0.6180.

**Two numbers per token.** Both defaults are used. The rows of E are (a, 0) and (5a, 2), with a =
log 3 / 2.

    >>> train([[0.5493061, 0.0], [2.7465307, 2.0]], [[1.0, 0.0], [3.0, -1.0]], [[0, 1]])
    ([[0.836286, 0.735939], [2.87153, 2]], [[1.2263, 0.274653], [3, -1]])

E[0] W = (a, 0), so h = (1/2, 0). The logits differ by 2a = log 3, and the gradient at the logits is
(1/4, -1/4). Output: E gets (1/8, 0) and (-1/8, 0). Input: h gets (-a, -1/2), and E[0] W gets d =
(-3a/4, -1/2). E[0] gets d Wᵀ = (-3a/4, -9a/4 + 1/2) in addition, and the first row of W gets a d.

## When it is solved

Automatic differentiation adds up all uses of a tensor on one machine. If the first and the last
layer are on different machines, the trainer must add them itself. Megatron-LM's issue 844 reports a
wrong sum of this kind.

Next: `network/two_policies`, the second broken run.

## See also

* Source: Press & Wolf 2017, Using the output embedding to improve language models
  (arXiv:1608.05859).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/unmoved_end
"""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Train a network on texts. The network uses the embedding at its input and at its output."""
    embedding, mix = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts, one_hot = np.asarray(texts), np.eye(len(embedding))
    current, following = texts[:, :-1].ravel(), texts[:, 1:].ravel()
    for _ in range(steps):
        rows = embedding[current]
        hidden = np.tanh(rows @ mix)
        probs = softmax(hidden @ embedding.T)
        logits_slope = (probs - one_hot[following]) / len(following)
        embedding_slope = logits_slope.T @ hidden
        inner_slope = (logits_slope @ embedding) * (1 - hidden**2)
        mix_slope = rows.T @ inner_slope
        embedding_slope = one_hot[current].T @ (inner_slope @ mix.T)
        embedding = embedding - learning_rate * embedding_slope
        mix = mix - learning_rate * mix_slope
    return embedding, mix
