"""How a token looks back

Medium, 2 points. GRADING.md says how answers are graded.

A table has a row of logits for each situation, and there are far too many situations in a language.
A network computes the logits instead, from a row of numbers for each token of the text so far. For
this the tokens have to exchange what they know, and attention is how they do: each token asks a
question (its query), each offers a label (its key) and something to say (its value). The better a
label fits the question, the more of what it stands for is listened to. A token may look at itself
and at what came before it, never at what comes after: that is what it is to predict.

## Your task

Write `attention(queries, keys, values)`.

Write `attention(queries, keys, values)`, causal attention with one head:

    s[i, j] = q[i] · k[j] / √D
    A[i, j] = exp(s[i, j]) / Σ_{m <= i} exp(s[i, m])  for j <= i,    A[i, j] = 0  for j > i
    o[i] = Σ_j A[i, j] v[j]

q[i], k[i] and v[i] are the query, the key and the value of token i, rows of D numbers each; D is
the length of a row, and q · k is the sum of the products. So each o[i] is a mean of values,
weighted with a softmax over the tokens up to i. With a third axis before them there are B
sequences, each of which is by itself.

| argument  | meaning                 | shape               | values      |
| --------- | ----------------------- | ------------------- | ----------- |
| `queries` | q, a row for each token | (T, D) or (B, T, D) | −100 to 100 |
| `keys`    | k, a row for each token | (T, D) or (B, T, D) | −100 to 100 |
| `values`  | v, a row for each token | (T, D) or (B, T, D) | −1e4 to 1e4 |

* `queries`, `keys` and `values` have the same shape.
* B, T and D are at least 1.

o, an array of the shape of the inputs.

* Every result is finite, however large the scores are: nothing overflows, neither a score of a
  thousand nor that of a later token, which does not count.
* The first token sees itself alone: o[0] = v[0].

## Examples

    >>> attention([[1.0], [1.0]], [[0.0], [1.0986122886681098]], [[4.0], [8.0]])
    [[4], [7]]

The first token sees itself alone. The second has the scores 0 and log 3, exponentials 1 and 3, so
weights 1/4 and 3/4: 4/4 + 8 · 3/4 = 7.

    >>> attention([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0, 0.0], [1.0986122886681098, 0.0, 0.0, 0.0]], [[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 4.0, 1.0]])
    [[4, 0, 0, 1], [7, 0, 3, 1]]

q · k = 2 log 3 and √4 = 2, so the weights of the second token are 1/4 and 3/4 again.

## When it is solved

A transformer does this with several heads side by side and in each of its layers; q, k and v are
products of the tokens' rows with weights that are learned. grpo_ref lays the scores out with the
keys first, since NumPy takes a maximum over that axis several times faster.

## See also

* Source: Vaswani et al. 2017, eq. 1 (arXiv:1706.03762).
* `grpo_ref.learning.policies.layers.attention` is the same function in this package. Look at it
  when you are done.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/attention
"""

import numpy as np


def attention(queries, keys, values):
    """Causal attention with one head."""
    raise NotImplementedError("network/attention")
