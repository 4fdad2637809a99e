"""Causal attention

Medium, 2 points. GRADING.md says how answers are graded.

A table of logits needs one row for each possible text, and a language has far too many texts. A
network computes the logits instead, from one row of numbers per token. Attention is the layer in
which the tokens exchange information.

Each token has a *query* (what it looks for), a *key* (how others find it) and a *value* (what it
passes on). The better a key fits a query, the more weight the value gets. Attention is *causal* if
no token uses a later one. Language models need this, because they must predict the later tokens.

## Your task

Write `attention(queries, keys, values)`.

Return one output row per token:

    s[i, j] = q[i] · k[j] / √D
    A[i, j] = exp(s[i, j]) / Σ_{l <= i} exp(s[i, l])  for j <= i,    A[i, j] = 0  for j > i
    o[i] = Σ_j A[i, j] v[j]

q[i], k[i] and v[i] are the query, the key and the value of token i: row i of each argument, with D
numbers. q · k is the sum of the products. s are the scores. A are the weights, a softmax over the
tokens up to i, so o[i] is a weighted mean of values.

A third axis in front holds B sequences, which do not affect each other.

| argument  | meaning              | shape               | values      |
| --------- | -------------------- | ------------------- | ----------- |
| `queries` | q, one row per token | (T, D) or (B, T, D) | −100 to 100 |
| `keys`    | k, one row per token | (T, D) or (B, T, D) | −100 to 100 |
| `values`  | v, one row per token | (T, D) or (B, T, D) | −1e4 to 1e4 |

* `queries`, `keys` and `values` have the same shape.
* B, T and D are at least 1.

Return o, an array of the same shape as the inputs. All results are finite, even if scores are in
the thousands or a later token has a huge score.

## Examples

**A weighted mean.** 1.0986123 is log 3.

    >>> attention([[1.0], [1.0]], [[0.0], [1.0986123]], [[4.0], [8.0]])
    [[4], [7]]

The first token sees only itself, so o[0] = v[0]. The second token has the scores 0 and log 3. The
exponentials are 1 and 3, so the weights are 1/4 and 3/4: 4 · 1/4 + 8 · 3/4 = 7.

**Four numbers per token.** Now D = 4.

    >>> attention([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
    ...           [[0.0, 0.0, 0.0, 0.0], [1.0986123, 0.0, 0.0, 0.0]],
    ...           [[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 4.0, 1.0]])
    [[4, 0, 0, 1], [7, 0, 3, 1]]

For the second token q · k = 2 log 3, and √4 = 2. The score is log 3 again, and the weights are 1/4
and 3/4 in each column.

**A large score of a later token.**

    >>> attention([[1.0], [1.0]], [[0.0], [1000.0]], [[1.0], [2.0]])
    [[1], [2]]

The first token does not see the score of 1000. The second token gives it all its weight: exp(-1000)
is 0 after rounding.

## When it is solved

A transformer has several of these heads in each layer. Its queries, keys and values are products of
the tokens' rows with learned weights. PyTorch's `scaled_dot_product_attention(q, k, v,
is_causal=True)` computes the same function.

Next: `network/attention_slope`, the backward pass of this layer.

## See also

* Source: Vaswani et al. 2017, eq. 1 (arXiv:1706.03762).
* `grpo_ref.learning.policies.layers.attention` computes the same in this package. Look at it when
  you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/attention
"""

import numpy as np


def attention(queries, keys, values):
    """Causal attention with one head."""
    raise NotImplementedError("network/attention")
