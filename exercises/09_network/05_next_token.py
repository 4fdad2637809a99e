"""One token more

Hard, 3 points. GRADING.md says how answers are graded.

A language model writes one token at a time: the network reads the newest token and says how likely
every token of the vocabulary is to come next, and one of them is drawn. Attention needs the keys
and values of all tokens so far. But since no token sees what comes after it, the keys and values of
the earlier tokens never change. They are kept, in the key/value cache, and a step computes those of
the newest token only. In training with rewards, much of the time goes into such steps. Two things
are kept of each for the update: the token, and its log-probability, which is the log π_old in the
ratio of chapter 3.

## Your task

Write `next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0)`.

Write `next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0)`, one such
step for a network of one layer with one head. The row of the token gives a query, a key and a
value. The key and the value become the last rows of the cache, and then the token looks at the
whole cache, itself included:

    x = E[token],  q = x Wq,  k = x Wk,  v = x Wv
    keys' = keys with the row k below,  values' = values with the row v below
    s[j] = q · keys'[j] / √D,  A = softmax(s),  o = Σ_j A[j] values'[j]

The output o is added to x (the residual connection). The products of this sum with the rows of E,
divided by the temperature τ, are the logits. The next token is drawn as in chapter 1: it is the
first one at which the sum of the probabilities so far is larger than u.

    z[b] = E[b] · (x + o) / τ,  π = softmax(z)
    next = min { b : π[0] + ... + π[b] > u },  log-probability = log π[next]

x W is the product of a row with a matrix, `x @ w`, and q · k is the sum of the products. The
temperature divides the logits alone, not the scores of the attention. The log-probability is that
of the distribution from which the token was drawn, temperature included.

| argument      | meaning                                          | shape  | values              |
| ------------- | ------------------------------------------------ | ------ | ------------------- |
| `token`       | the newest token of the text                     | number | integer, 0 to V - 1 |
| `keys`        | the keys of the N tokens before it, one row each | (N, D) | −100 to 100         |
| `values`      | their values, one row each                       | (N, D) | −100 to 100         |
| `wq`          | Wq, the weights of the query                     | (D, D) | −10 to 10           |
| `wk`          | Wk, the weights of the key                       | (D, D) | −10 to 10           |
| `wv`          | Wv, the weights of the value                     | (D, D) | −10 to 10           |
| `embeddings`  | E, a row of D numbers for each token             | (V, D) | −10 to 10           |
| `uniform`     | u, a random number below 1                       | number | 1e-7 to 1           |
| `temperature` | τ                                                | number | 0.01 to 100         |

* N may be 0.
* D and V are at least 1.
* u is at least 1e-8 away from every sum π[0] + ... + π[b], so that rounding does not choose the
  token.

A tuple of four: the next token, a whole number from 0 to V - 1; its log-probability, a number in
nats; and keys' and values', each of shape (N + 1, D).

* The cache is empty before the first token: N = 0, arrays of shape (0, D). Then o = v.
* Every result is finite, however large the scores and the logits are and however low the
  temperature is.
* keys' and values' are new: what was given stays as it is, lists too.

## Examples

    >>> next_token(0, [[0.0]], [[0.0]], [[1.0986122886681098]], [[1.0]], [[4.0]], [[1.0], [0.0]], 0.9, 2.0)
    (1, -2.1269280110429727, [[0], [1]], [[0], [4]])

x = 1, so q = log 3, k = 1 and v = 4. The scores with the keys 0 and 1 are 0 and log 3, exponentials
1 and 3, so the weights are 1/4 and 3/4, and o = 0/4 + 4 · 3/4 = 3. x + o = 4; the products with the
embeddings are 4 and 0, the logits 2 and 0, since τ = 2. The exponentials are 7.389 and 1, so π =
0.8808, 0.1192. 0.8808 is not larger than u = 0.9, the next sum, 1, is: token 1, and log 0.1192 =
-2.1269.

    >>> next_token(1, np.zeros((0, 2)), np.zeros((0, 2)), [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [5.0, -1.0]], [[9.0, 9.0], [0.0, 0.09861228866810978]], [[1.0, 0.0], [0.0, 1.0]], 0.2)
    (0, -1.3862943611198906, [[5, -1]], [[0, 0.0986123]])

Nothing is cached, so the token sees itself alone: o = v, whatever the score is. x = (0, 1), so k
and v are the second rows of Wk and Wv, and x + o = (0, log 3). E is the identity: the logits are 0
and log 3, and π = 1/4, 3/4. 1/4 is larger than u = 0.2: token 0, and log 1/4 = -1.38629.

## When it is solved

The temperature of a log-probability has to be the same everywhere. With 0.6 where the token is
drawn and 1 where the update computes it again, the ratio is not 1 although nothing was trained. TRL
divides the logits by the temperature when it trains. vLLM returns log-probabilities of temperature
1 unless it is told otherwise (logprobs_mode="processed_logprobs"); until TRL told it, ratios of the
two were wrong (TRL's issue 4159). prime-rl once divided the log-probabilities by the temperature
instead of the logits (its pull request 697).

A transformer has several layers and heads, norms, an MLP and positions, which are left out here.
The step is the same: grpo_ref.learning.policies.transformer.Transformer.extend.

## See also

* Source: Vaswani et al. 2017, sec. 3.2.1 and 3.4 (arXiv:1706.03762); Shazeer 2019, sec. 2.4
  (arXiv:1911.02150).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/next_token
"""

import numpy as np


def next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    """One step with a cache: the next token, its log-probability, and the grown keys and values."""
    raise NotImplementedError("network/next_token")
