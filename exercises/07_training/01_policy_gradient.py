"""From log-probabilities to logits  (medium, 2 points)

## Background

The loss gives a gradient with respect to the log-probability of each sampled token. The policy has
logits.

## Problem

Write `logits_gradient(logits, tokens, gradient)`, the chain rule through the log-softmax:

    ∂L/∂logits[n, a] = g[n] (1[a = token n] - π(a | n)),    π the softmax of row n

## Input

- logits: (N, V).
- tokens: (N,) the sampled tokens.
- gradient: (N,) g, ∂L/∂log π(token) of each row.

## Output

(N, V) ∂L/∂logits.

## Examples

    logits_gradient([[0.0, 0.0]], [0], [1.0])
    -> [[0.5, -0.5]]

1 - 1/2, and -1/2

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

the score function of a softmax; Williams 1992.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/policy_gradient
"""

import numpy as np


def logits_gradient(logits, tokens, gradient):
    """The chain rule through the log-softmax."""
    raise NotImplementedError("training/policy_gradient")
