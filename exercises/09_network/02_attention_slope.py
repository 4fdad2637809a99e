"""Which token is to blame

Hard, 3 points. GRADING.md says how answers are graded.

A network is trained by the way back: the loss says how it changes with the last layer's output, and
each layer carries this on to its input. Attention is the most interesting of them. What a token
said (its value) is praised or blamed by all later tokens that listened to it. And who listened to
whom is corrected too: the weight of a token that said better things than the average of what was
heard has to grow. That comparison with an average should look familiar: it is an advantage, and it
is there because a softmax sums to 1.

## Your task

Write `attention_slope(queries, keys, values, slope)`.

Write `attention_slope(queries, keys, values, slope)`: for the causal attention of the exercise
before,

    s[i, j] = q[i] · k[j] / √D
    A[i, j] = exp(s[i, j]) / Σ_{m <= i} exp(s[i, m])  for j <= i,    A[i, j] = 0  for j > i
    o[i] = Σ_j A[i, j] v[j]

and the slope g[i] = ∂L/∂o[i] of a loss L, return the slopes ∂L/∂q, ∂L/∂k and ∂L/∂v. On the way
stands the slope with respect to the scores,

    δ[i] = Σ_j A[i, j] (g[i] · v[j])
    ∂L/∂s[i, j] = A[i, j] (g[i] · v[j] - δ[i])

From there the chain rule leads on to q[i] and k[j], of which s[i, j] is a product. A key and a
value are seen by several tokens, and what comes from each of these adds up. With a third axis
before the others there are B sequences, each of which is by itself.

| argument  | meaning                         | shape               | values      |
| --------- | ------------------------------- | ------------------- | ----------- |
| `queries` | q, a row for each token         | (T, D) or (B, T, D) | −30 to 30   |
| `keys`    | k, a row for each token         | (T, D) or (B, T, D) | −30 to 30   |
| `values`  | v, a row for each token         | (T, D) or (B, T, D) | −100 to 100 |
| `slope`   | g = ∂L/∂o, a row for each token | (T, D) or (B, T, D) | −100 to 100 |

* `queries`, `keys`, `values` and `slope` have the same shape.
* B, T and D are at least 1.

A tuple of three arrays, ∂L/∂q, ∂L/∂k and ∂L/∂v, each of the shape of the inputs.

* With one token, T = 1, ∂L/∂q and ∂L/∂k are 0, and ∂L/∂v is g.

## Examples

    >>> attention_slope([[1.0], [1.0]], [[0.0], [1.0986122886681098]], [[4.0], [8.0]], [[0.0], [1.0]])
    ([[0], [0.823959]], [[-0.75], [0.75]], [[0.25], [0.75]])

Only the output of the second token has a slope, 1. Its weights are 1/4 and 3/4, and δ = 4/4 + 8 ·
3/4 = 7. So ∂L/∂s is 1/4 (4 - 7) = -0.75 and 3/4 (8 - 7) = 0.75: more of the second value makes the
output larger. Times the keys, 0 and log 3, that is 0.823959 for its query; times its query it is
the slope of the keys; the values get the weights.

## When it is solved

δ[i] is also g[i] · o[i], which is how fast implementations compute it: then the weights A need not
be kept, but can be made again block by block. That is the idea of FlashAttention.

## See also

* Source: Dao et al. 2022, appendix B.2 (arXiv:2205.14135).
* `grpo_ref.learning.policies.layers.attention_back` is the same function in this package. Look at
  it when you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/attention_slope
"""

import numpy as np


def attention_slope(queries, keys, values, slope):
    """The way back through causal attention, to queries, keys and values."""
    raise NotImplementedError("network/attention_slope")
