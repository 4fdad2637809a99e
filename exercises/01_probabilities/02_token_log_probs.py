"""The log-probability of the sampled token

Easy, 1 point. GRADING.md says how answers are graded.

A language model answers a prompt with a *completion*, a row of tokens. At every position the model
gives each token of the vocabulary a logit. The softmax of the logits is the policy: the probability
of each token. One token per position was sampled from these probabilities.

Training makes the sampled token more or less likely. The loss therefore needs one number per
position out of the whole vocabulary: the log-probability of the token that was sampled.

## Your task

Write `token_log_probs(logits, tokens)`.

Return the log-probability of the sampled token at every position t of every completion n:

    result[n, t] = logits[n, t, a] - log Σ_b exp(logits[n, t, b]),    a = tokens[n, t]

The sum runs over the last axis, the vocabulary, and log is the natural logarithm. Each position has
a distribution of its own. `logits[n, t]` belongs to `tokens[n, t]`, so do not shift the tokens.

| argument | meaning                      | shape     | values               |
| -------- | ---------------------------- | --------- | -------------------- |
| `logits` | logits, one row per position | (N, T, V) | −1e4 to 1e4          |
| `tokens` | the sampled tokens           | (N, T)    | integers, 0 to V - 1 |

* N, T and V are at least 1.

`tokens` always has an integer type. Return an array of shape (N, T), in nats. All results are
finite, however far apart the logits of a position are.

## Examples

**Two positions.** The logits are the logarithms of the probabilities 0.5, 0.3, 0.2 and 0.1, 0.1,
0.8.

    >>> token_log_probs([[[-0.6931472, -1.2039728, -1.6094379],
    ...                   [-2.3025851, -2.3025851, -0.2231436]]], [[0, 2]])
    [[-0.693147, -0.223144]]

Token 0 was sampled first and token 2 second: log 0.5 and log 0.8. The exponentials of each row sum
to 1, so the logarithm of the sum is 0.

**Two completions, and logits that are not log-probabilities.** The first logit is log 3.

    >>> token_log_probs([[[1.0986123, 0.0], [0.0, 0.0]],
    ...                  [[5.0, 5.0], [1000.0, 0.0]]], [[0, 1], [0, 1]])
    [[-0.287682, -0.693147], [-0.693147, -1000]]

The probabilities are 3/4, 1/2 and 1/2 for the first three positions. At the last position the
log-probability of token 1 is 0 - log(exp(1000) + exp(0)). This is -1000 to all digits of a double.

## When it is solved

In a trainer, the logits at one position belong to the *next* token, so the trainer shifts the
logits by one position before this step. The table of all log-probabilities is the largest array of
a training step. TRL and verl select the logit first and subtract the logarithm of the sum from it:
the result is the same and needs less memory.

## See also

* Source: TRL, selective_log_softmax; verl, logprobs_from_logits.
* `grpo_ref.token_log_probs` computes the same in this package. Look at it when you are done.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/token_log_probs
"""

import numpy as np


def token_log_probs(logits, tokens):
    """Return the log-probability of the sampled token at every position."""
    raise NotImplementedError("probabilities/token_log_probs")
