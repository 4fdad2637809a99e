"""A KL from one token  (medium, 2 points)

## Background

A trainer sees only the sampled token. Schulman's k3 estimates the KL from it: unbiased, and never
negative.

## Problem

Write `k3(log_probs, ref_log_probs)`, one estimate per token:

    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

## Input

- log_probs, ref_log_probs: log-probabilities of the sampled tokens, of the same shape, in nats.

## Output

An array of the same shape, in nats.

## Examples

    k3([-0.693147], [-1.38629])
    -> [0.193147]

1/2 - 1 + log 2

## Constraints

- Near v = 0 the value is v²/2: e⁻ᵛ - 1 must not lose it to rounding.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Schulman 2020, Approximating KL divergence; DeepSeekMath, eq. 4 (arXiv:2402.03300).

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/k3
"""

import numpy as np


def k3(log_probs, ref_log_probs):
    """Schulman's unbiased, never negative estimate, one per token."""
    raise NotImplementedError("kl/k3")
