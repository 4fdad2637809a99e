"""One sampling step with a key/value cache

Hard, 3 points. GRADING.md says how answers are graded.

A language model generates one token at a time. Attention needs the keys and values of all earlier
tokens. They never change, because no token sees a later one. So the sampler stores them in the
key/value cache, and each step computes only the newest. The trainer also needs the log-probability
of the token, as log πold.

## Your task

Write `next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0)`.

Do one step for a network of one layer with one head. The newest token attends to the whole cache;
its own key and value are the last rows:

    x = E[token],  q = x Wq,  k = x Wk,  v = x Wv
    keys' = keys with the row k below,  values' = values with the row v below
    s[j] = q · keys'[j] / √D,  A = softmax(s),  o = Σ_j A[j] values'[j]

E is `embeddings`, and x Wq is `x @ wq`. The logits use E again:

    z[b] = E[b] · (x + o) / τ,  π = softmax(z)
    next = min { b : π[0] + ... + π[b] > u },  log-probability = log π[next]

τ is `temperature`. It does not divide the scores. u is `uniform`. The next token is the first one
at which the sum of the probabilities is larger than u. Large scores and logits must not overflow.

| argument      | meaning                        | shape  | values              |
| ------------- | ------------------------------ | ------ | ------------------- |
| `token`       | the newest token               | number | integer, 0 to V - 1 |
| `keys`        | keys of the N earlier tokens   | (N, D) | −100 to 100         |
| `values`      | values of the N earlier tokens | (N, D) | −100 to 100         |
| `wq`          | Wq, weights of the query       | (D, D) | −10 to 10           |
| `wk`          | Wk, weights of the key         | (D, D) | −10 to 10           |
| `wv`          | Wv, weights of the value       | (D, D) | −10 to 10           |
| `embeddings`  | E, one row per token           | (V, D) | −10 to 10           |
| `uniform`     | u, a random number             | number | 1e-6 to 0.999999    |
| `temperature` | τ, divides the logits          | number | 0.01 to 100         |

* N may be 0.
* D and V are at least 1.
* u is at least 1e-8 away from every sum π[0] + ... + π[b].
* The log-probability is 0 or at most -1e-6.

Return a tuple of four: the next token, an integer; its log-probability; keys' and values', two new
arrays of N + 1 rows. An empty cache has shape (0, D).

## Examples

**A cache of one token, at temperature 2.** 1.5536724 is √2 log 3.

    >>> next_token(0, [[0.0, 0.0]], [[4.0, 0.0]],
    ...            [[2.0, 1.5536724], [3.0, 4.0]], [[0.0, 1.0], [5.0, -1.0]], [[0.0, 4.0], [9.0, 9.0]],
    ...            [[1.0, 0.0], [0.0, 1.0]], 0.9, 2.0)
    (1, -0.474077, [[0, 0], [0, 1]], [[4, 0], [0, 4]])

x = (1, 0), so q = (2, √2 log 3), k = (0, 1) and v = (0, 4) are the first rows of the weights. The
scores are 0 for the cached key and √2 log 3 / √2 = log 3 for the new one. The weights are 1/4 and
3/4, so o = (1, 3) and x + o = (2, 3). The logits are (2, 3)/2 = (1, 1.5), and π = (0.3775, 0.6225).
The first sum above u = 0.9 is that of token 1: log 0.6225 = -0.4741.

**Equal scores, three tokens.** Wq is 0, and 2.1972246 is 2 log 3.

    >>> next_token(1, [[1.0, 1.0]], [[2.1972246, -2.0]],
    ...            [[0.0, 0.0], [0.0, 0.0]], [[7.0, 7.0], [5.0, -1.0]], [[9.0, 9.0], [0.0, 0.0]],
    ...            [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 0.5)
    (1, -1.94591, [[1, 1], [5, -1]], [[2.19722, -2], [0, 0]])

x = (0, 1). Both scores are 0, so o is half of the cached value, (log 3, -1), and x + o = (log 3,
0). The logits are log 3, 0 and log 3, and π = (3/7, 1/7, 3/7). The sums are 0.43, 0.57 and 1, and
0.57 is the first above 0.5: token 1, log 1/7.

## When it is solved

Sampler and trainer must use the same temperature for log-probabilities. TRL divides the logits by
it in training. vLLM reports log-probabilities at temperature 1 unless
`logprobs_mode="processed_logprobs"` is set. TRL's issue 4159 reports the wrong ratios that follow.

Next: `network/imitation_step`, which trains a small network.

## See also

* Source: Vaswani et al. 2017, sec. 3.2.1 and 3.4 (arXiv:1706.03762); Shazeer 2019, sec. 2.4
  (arXiv:1911.02150).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/next_token
"""

import numpy as np


def next_token(token, keys, values, wq, wk, wv, embeddings, uniform, temperature=1.0):
    """One sampling step: the next token, its log-probability, and the extended keys and values."""
    raise NotImplementedError("network/next_token")
