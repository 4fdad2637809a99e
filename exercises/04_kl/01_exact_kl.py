"""How far from the reference?  (easy, 1 point)

## Background

The KL penalty keeps the policy near the reference. With the whole vocabulary at hand it can be
written out.

## Problem

Write `exact_kl(probs, ref_probs)` along the last axis:

    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ),    with 0 log 0 = 0

## Input

- probs, ref_probs: probabilities of the same shape, the vocabulary last. Where πref is 0, π is 0
  too.

## Output

One number per row, in nats.

## Examples

    exact_kl([[0.5, 0.5]], [[0.75, 0.25]])
    -> [0.143841]

1/2 log(2/3) + 1/2 log 2

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Kullback & Leibler 1951.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/exact_kl
"""

import numpy as np


def exact_kl(probs, ref_probs):
    """KL(policy || reference) along the last axis, in nats."""
    raise NotImplementedError("kl/exact_kl")
