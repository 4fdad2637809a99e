"""How undecided is the policy?  (easy, 1 point)

## Background

Entropy is the first curve to look at: when it collapses, the policy has stopped exploring.

## Problem

Write `entropy(probs)`, the entropy along the last axis:

    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0

## Input

- probs: probabilities, the vocabulary last; each row sums to 1 and may contain zeros.

## Output

One number per row, in nats.

## Examples

    entropy([[0.5, 0.5]])
    -> [0.693147]

-2 · 1/2 log 1/2 = log 2

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Shannon 1948; TRL and verl log it as `entropy`.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/entropy
"""

import numpy as np


def entropy(probs):
    """Entropy along the last axis, in nats."""
    raise NotImplementedError("probabilities/entropy")
