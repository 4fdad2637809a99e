"""Which KL does it really pull on?  (medium, 2 points)

## Background

k3 is an unbiased *value*, but training follows its *slope*, and averaged over the policy that slope
is the gradient of KL(πref ‖ π), the other direction. Only the slope shows it.

## Problem

Write `k3_slope(log_probs, ref_log_probs)`: the derivative of k3 with respect to log_probs.

    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

## Input

- log_probs, ref_log_probs: log-probabilities of the sampled tokens, of the same shape, in nats.

## Output

∂k3/∂log πθ, of the same shape.

## Examples

    k3_slope([-0.693147], [-1.38629])
    -> [0.5]

1 - 1/2

## Constraints

- Near v = 0 the slope is v: do not lose it to rounding.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

TRL `GRPOTrainer._compute_loss`, differentiated.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/k3_slope
"""

import numpy as np


def k3_slope(log_probs, ref_log_probs):
    """The derivative of k3 with respect to log_probs."""
    raise NotImplementedError("kl/k3_slope")
