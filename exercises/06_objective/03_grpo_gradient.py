"""The gradient of GRPO's loss, by hand  (hard, 3 points)

## Background

An autograd engine would do it for you. By hand you see which tokens are pushed, and how hard.

## Problem

Write `grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`, the derivative of the loss of `objective/grpo_loss` with respect to `log_probs`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β (e⁻ᵛ - 1 + v) ]
    r = exp(log πθ - log πold),    v = log πθ - log πref

## Input

- log_probs, old_log_probs, ref_log_probs: (N, T) of the sampled tokens, in nats; padding holds
  arbitrary numbers.
- advantages: (N,) one per completion.
- mask: (N, T) 1 on tokens, 0 on padding; every completion has at least one.
- clip: ε. kl_coef: β.

## Output

(N, T) ∂L/∂log πθ of each token, exactly 0 on padding.

## Examples

    grpo_gradient(
        [[-0.510826, -0.693147], [-0.693147, -0.105361]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [1, -1],
        [[1, 1], [1, 0]],
        0.1,
        0.0,
    )
    -> [[0, -0.25], [0.5, 0]]

ratio 1.2 > 1.1 with A > 0: no slope; the others have slope A; weights 1/4 and 1/2, and one minus
sign

## Constraints

- On the bound of the clip itself the slope is still the unclipped one.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DeepSeekMath (arXiv:2402.03300); TRL `GRPOTrainer._compute_loss`, differentiated.

## See also

- notebooks/01_the_objective.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade objective/grpo_gradient
"""

import numpy as np


def grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """The derivative of the loss with respect to each token's log-probability."""
    raise NotImplementedError("objective/grpo_gradient")
