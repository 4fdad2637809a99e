"""Whose gradient is unbiased?  (medium, 2 points)

## Background

A penalty trains by its gradient, not by its value. k1 is an unbiased estimate of the KL, and
useless as a penalty: on average its gradient is zero. k2 is biased, and its gradient is exactly
right. See it for yourself.

## Problem

Write `expected_gradients(logits, ref_log_probs)` for one state with V tokens and π =
softmax(logits). For each estimator k, a trainer draws a token a from π and follows the slope of k
at that token; on average that is

    gₖ = Σₐ πₐ k'(vₐ) ∇ log πₐ,    vₐ = log πₐ - log πrefₐ,    ∇ log πₐ = (one-hot of a) - π

with k1' = 1, k2' = v, k3' = 1 - e⁻ᵛ. Beside them, the true gradient of KL(π ‖ πref):

    πₐ (vₐ - KL)

## Input

- logits: (V,).
- ref_log_probs: (V,) log-probabilities under the reference, in nats.

## Output

A dict with the keys "kl", "k1", "k2", "k3", each a (V,) array: a gradient with respect to the
logits.

## Examples

    expected_gradients([0.0, 0.0], [-0.223144, -1.60944])
    -> {'kl': [-0.346574, 0.346574], 'k1': [0, 0], 'k2': [-0.346574, 0.346574], 'k3': [-0.3, 0.3]}

v = log 5/8 and log 5/2, whose half-difference is log 2; k3' = 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6

## Notes

The sampling itself is not differentiated: trainers draw the tokens first, then differentiate k at
them.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Schulman 2020, Approximating KL divergence, for the estimators; verl and TRL discuss their
gradients.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/expected_gradient
"""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """The gradient of the KL, and what each estimator's gradient is on average."""
    raise NotImplementedError("kl/expected_gradient")
