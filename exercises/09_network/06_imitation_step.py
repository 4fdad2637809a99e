"""One training step by imitation

Medium, 3 points. GRADING.md says how answers are graded.

An untrained network generates noise, and noise gets no rewards. So the network first imitates
texts. The gradient of `network/cross_entropy` goes back through every layer to the weights.

This network is the smallest one with all parts. It reads one token and predicts the next. One
table, the embedding, serves as input and as output (a *tied* embedding, as in GPT-2).

## Your task

Write `imitation_step(embeddings, weight, tokens, mask, learning_rate)`.

Take one step of gradient descent on the cross-entropy. With E for `embeddings` and W for `weight`,
the network computes after a token x

    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)

E[x] is row x of E, and z[a] is the product of h with row a. With b for the text, t for the position
from 0, and m for `mask`,

    loss = -Σ m[b, t] log π(tokens[b, t] | tokens[b, t - 1]) / Σ m[b, t]

Both sums run over all texts and positions t ≥ 1: the first token is never predicted, and its mask
is ignored. The step is

    E - learning_rate · ∂loss/∂E,    W - learning_rate · ∂loss/∂W

E is used twice, in E[x] and in z: add both gradients. The derivative of tanh is 1 - tanh². Logits
can lie far apart: avoid overflow and log 0.

| argument        | meaning                         | shape  | values               |
| --------------- | ------------------------------- | ------ | -------------------- |
| `embeddings`    | E, one row per token            | (V, D) | −1000 to 1000        |
| `weight`        | W                               | (D, D) | −10 to 10            |
| `tokens`        | the tokens of each text         | (B, T) | integers, 0 to V - 1 |
| `mask`          | m, 1 on tokens to learn, else 0 | (B, T) | 0 or 1               |
| `learning_rate` | step size                       | number | 0.01 to 100          |

* `mask`: zeros may be anywhere, and a row may be all zeros.
* B and D are at least 1.
* T and V are at least 2.

Return a tuple: the new E, the new W, and the loss before the step. If no position counts, the loss
is 0 and the weights stay.

## Examples

**One number per token.** The rows are a = 0.5493061 = log 3 / 2 and 5a, and W = 1.

    >>> imitation_step([[0.5493061], [2.7465307]], [[1.0]], [[0, 1]], [[0, 1]], 1.0)
    ([[0.836286], [2.87153]], [[1.2263]], 0.287682)

h = tanh(a) = 1/2. The logits a/2 and 5a/2 differ by 2a = log 3, so π is 1/4 and 3/4. Token 1
follows: the loss is -log 3/4, and its gradient at the logits is g = (1/4, -1/4). Output: the rows
of E get g h = (1/8, -1/8). Input: the gradient of h is a/4 - 5a/4 = -a, and that of E[0] W is -a (1
- 1/4) = -0.41198. Times W this goes to E[0], times E[0] it goes to W: -0.226303.

**Two numbers per token.** The mask of the first token is ignored.

    >>> imitation_step([[0.5493061, 0.0], [2.7465307, 2.0]], [[1.0, 0.0], [3.0, -1.0]],
    ...                [[0, 1]], [[1, 1]], 1.0)
    ([[0.836286, 0.735939], [2.87153, 2]], [[1.2263, 0.274653], [3, -1]], 0.287682)

h = (1/2, 0), and g is (1/4, -1/4) again. h gets (-a, -1/2), and E[0] W gets d = (-3a/4, -1/2). E[0]
gets d Wᵀ = (-3a/4, -9a/4 + 1/2) and (1/8, 0) from the output. The first row of W gets a d.

**Two texts.** Two positions count, both after token 0.

    >>> imitation_step([[0.5493061], [2.7465307]], [[1.0]],
    ...                [[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]], 2.0)
    ([[-0.0246532], [2.49653]], [[0.547394]], 0.836988)

The loss is (log 4 + log 4/3) / 2. The gradient at the logits is half of (-3/4, 3/4) + (1/4, -1/4),
that is (-1/4, 1/4).

## When it is solved

A transformer has more layers and usually the optimizer Adam. The rest is the same:
`grpo_ref.learning.pretraining`.

Next: `network/grpo_step`, where rewards replace the examples.

## See also

* Source: Press & Wolf 2017, for the tied embedding (arXiv:1608.05859).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/imitation_step
"""

import numpy as np


def imitation_step(embeddings, weight, tokens, mask, learning_rate):
    """E and W after one step of descent on the cross-entropy, and the loss before the step."""
    raise NotImplementedError("network/imitation_step")
