"""How likely was the token that came?  (easy, 1 point)

## Background

Of all the probabilities in the vocabulary, the loss needs one per position: that of the sampled
token.

## Problem

Write `token_log_probs(logits, tokens)`: at every position, the log-probability of its token.

    result[n, t] = log_softmax(logits[n, t])[tokens[n, t]]

## Input

- logits: (N, T, V).
- tokens: (N, T) integers from 0 to V - 1.

## Output

(N, T) log-probabilities in nats.

## Examples

    token_log_probs([[[-0.693147, -1.20397, -1.60944], [-2.30259, -2.30259, -0.223144]]], [[0, 2]])
    -> [[-0.693147, -0.223144]]

probabilities 0.5 and 0.8

## Constraints

- logits[n, t] scores tokens[n, t]: nothing is shifted here.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

TRL `selective_log_softmax`; verl `logprobs_from_logits`.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/token_log_probs
"""

import numpy as np


def token_log_probs(logits, tokens):
    """The log-probability of the token at every position."""
    raise NotImplementedError("probabilities/token_log_probs")
