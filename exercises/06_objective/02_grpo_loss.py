"""The loss of GRPO, token by token  (hard, 3 points)

## Background

All the parts are there: ratio, clip, penalty, average. This is what a trainer minimizes.

## Problem

Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

## Input

- log_probs, old_log_probs, ref_log_probs: (N, T) of the sampled tokens, in nats; padding holds
  arbitrary numbers.
- advantages: (N,) one per completion.
- mask: (N, T) 1 on tokens, 0 on padding; every completion has at least one.
- clip: ε. kl_coef: β.

## Output

A number, to be minimized.

## Examples

    grpo_loss(
        [[-0.510826, -0.693147], [-0.693147, -0.105361]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [1, -1],
        [[1, 1], [1, 0]],
        0.1,
        0.0,
    )
    -> -0.025

ratios 1.2 and 1, the first clipped at 1.1: mean 1.05; the other completion -1; minus half their sum

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.

## See also

- notebooks/01_the_objective.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade objective/grpo_loss
"""

import numpy as np


def grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Clipped surrogate minus penalty, averaged per completion, then over completions, negated."""
    raise NotImplementedError("objective/grpo_loss")
