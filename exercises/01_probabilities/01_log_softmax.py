"""Log-probabilities that do not overflow  (easy, 1 point)

## Background

A language model ends in logits, one number per token. Everything in GRPO is built on their log-
softmax.

## Problem

Write `log_softmax(logits)`, the logarithm of the softmax along the last axis:

    log πₐ = zₐ - log Σ_b exp(z_b)

## Input

- logits: any number of axes, the vocabulary last; finite, but possibly as large as 1e4.

## Output

An array of the same shape, in nats.

## Examples

    log_softmax([[0.0, 0.0]])
    -> [[-0.693147, -0.693147]]

each has probability 1/2

## Constraints

- No overflow, and no -inf for a finite logit: subtract the largest logit of each row first.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

any numerics text; TRL `selective_log_softmax` does the same.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/log_softmax
"""

import numpy as np


def log_softmax(logits):
    """Log-probabilities along the last axis."""
    raise NotImplementedError("probabilities/log_softmax")
