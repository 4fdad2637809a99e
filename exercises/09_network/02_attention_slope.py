"""The backward pass of attention

Hard, 3 points. GRADING.md says how answers are graded.

Training goes backward through the network. Each layer receives the gradient of a loss L with
respect to its output and returns the gradient with respect to its inputs.

In attention, a value gets a gradient from every token that attends to it. The weights are corrected
too. A weight should grow if its value is better than the weighted mean of the values. This
comparison with a mean resembles an advantage. It appears because the weights of a token sum to 1.

## Your task

Write `attention_slope(queries, keys, values, slope)`.

This is the causal attention of `network/attention`:

    s[i, j] = q[i] · k[j] / √D
    A[i, j] = exp(s[i, j]) / Σ_{l <= i} exp(s[i, l])  for j <= i,    A[i, j] = 0  for j > i
    o[i] = Σ_j A[i, j] v[j]

The argument `slope` is g: its row g[i] is the gradient ∂L/∂o[i]. Return the gradients ∂L/∂q, ∂L/∂k
and ∂L/∂v. The gradient of the scores is an intermediate result:

    δ[i] = Σ_j A[i, j] (g[i] · v[j])
    ∂L/∂s[i, j] = A[i, j] (g[i] · v[j] - δ[i])

The chain rule leads from s to q and k. Several tokens use the same key and the same value, so add
the contributions of all these tokens. A third axis in front holds B sequences, which do not affect
each other.

| argument  | meaning                               | shape               | values      |
| --------- | ------------------------------------- | ------------------- | ----------- |
| `queries` | q, one row per token                  | (T, D) or (B, T, D) | −30 to 30   |
| `keys`    | k, one row per token                  | (T, D) or (B, T, D) | −30 to 30   |
| `values`  | v, one row per token                  | (T, D) or (B, T, D) | −100 to 100 |
| `slope`   | g = ∂L/∂o, the gradient of the output | (T, D) or (B, T, D) | −100 to 100 |

* `queries`, `keys`, `values` and `slope` have the same shape.
* B, T and D are at least 1.

Return a tuple of three arrays, ∂L/∂q, ∂L/∂k and ∂L/∂v, each of the shape of the inputs.

## Examples

**One number per token.** 1.0986123 is log 3. Only the second output has a gradient, 1.

    >>> attention_slope([[1.0], [1.0]], [[0.0], [1.0986123]], [[4.0], [8.0]], [[0.0], [1.0]])
    ([[0], [0.823959]], [[-0.75], [0.75]], [[0.25], [0.75]])

The weights of the second token are 1/4 and 3/4, and δ = 4 · 1/4 + 8 · 3/4 = 7. So ∂L/∂s is 1/4 · (4
- 7) = -0.75 and 3/4 · (8 - 7) = 0.75. Its query gets -0.75 · 0 + 0.75 · log 3 = 0.823959. The keys
get ∂L/∂s times the query 1. The values get the weights times g = 1.

**Four numbers per token.** The first output has a gradient too.

    >>> attention_slope([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
    ...                 [[0.0, 0.0, 0.0, 0.0], [1.0986123, 0.0, 0.0, 0.0]],
    ...                 [[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 0.0, 1.0]],
    ...                 [[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    ([[0, 0, 0, 0], [0.41198, 0, 0, 0]],
     [[-0.75, 0, 0, 0], [0.75, 0, 0, 0]],
     [[2.25, 0, 0, 0.25], [0.75, 0, 0, 0.75]])

Second token: q · k = 2 log 3 and √4 = 2, so the weights are 1/4 and 3/4 again. g · v is 5 and 9, δ
= 8, and ∂L/∂s is ∓0.75 again. The query gets half of 0.75 · log 3, the keys get half of ∓0.75 · 2.
First token: its weight is 1, so its query gets 0 and its value gets g[0] = (2, 0, 0, 0). The first
value also gets 1/4 of g[1]: together (2.25, 0, 0, 0.25).

## When it is solved

δ[i] equals g[i] · o[i]. Fast implementations use this form: FlashAttention does not store the
weights A, and computes them again, block by block, in the backward pass.

Next: `network/norm_slope`, the backward pass of a normalization layer.

## See also

* Source: Dao et al. 2022, appendix B.2 (arXiv:2205.14135).
* `grpo_ref.learning.policies.layers.attention_back` computes the same in this package. Look at it
  when you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/attention_slope
"""

import numpy as np


def attention_slope(queries, keys, values, slope):
    """The gradients of queries, keys and values, from the gradient of the output."""
    raise NotImplementedError("network/attention_slope")
