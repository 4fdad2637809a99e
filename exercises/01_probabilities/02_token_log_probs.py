"""How likely was the token that came?

Easy, 1 point. GRADING.md says how answers are graded.

A language model answers a prompt with a completion, a row of tokens. At every position it gives
each token of the vocabulary a logit, and with the softmax of the logits a probability; these
probabilities are the policy. One token per position was drawn from them. Training makes that token
more or less likely, so of the whole vocabulary the loss needs one number per position: the
log-probability of the token that came.

## Your task

Write `token_log_probs(logits, tokens)`.

Write `token_log_probs(logits, tokens)`. At every position t of every completion n it takes the
log-probability of the token there:

    result[n, t] = logits[n, t, a] - log Σ_b exp(logits[n, t, b]),    a = tokens[n, t]

The sum runs over the vocabulary, the last axis; every position has a distribution of its own.

| argument | meaning                             | shape     | values               |
| -------- | ----------------------------------- | --------- | -------------------- |
| `logits` | one row per completion and position | (N, T, V) | −1e4 to 1e4          |
| `tokens` | the tokens that came                | (N, T)    | integers, 0 to V - 1 |

* N, T and V are at least 1.

(N, T) log-probabilities in nats.

* logits[n, t] scores tokens[n, t]: nothing is shifted here. No axis is empty.
* Every result is finite, however far apart the logits of a position are: nothing overflows, and a
  very unlikely token gets a large negative number, not -inf.

## Examples

    >>> token_log_probs([[[-0.693147, -1.20397, -1.60944], [-2.30259, -2.30259, -0.223144]]], [[0, 2]])
    [[-0.693147, -0.223144]]

The logits are the logarithms of the probabilities 0.5, 0.3, 0.2 and 0.1, 0.1, 0.8. Token 0 came
first and token 2 second: log 0.5 and log 0.8.

## When it is solved

In a trainer the logits at a position score the next token, so they are shifted by one place before
they get here. The whole table of log-probabilities is the largest array of a training step; TRL and
verl pick the logit first and subtract the log of the sum from it, which is the same with less
memory.

## See also

* Source: TRL `selective_log_softmax`; verl `logprobs_from_logits`.
* `grpo_ref.token_log_probs` is the same function in this package. Look at it when you are done.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/token_log_probs
"""

import numpy as np


def token_log_probs(logits, tokens):
    """The log-probability of the token at every position."""
    raise NotImplementedError("probabilities/token_log_probs")
