"""What did the others get?  (easy, 1 point)

## Background

A baseline that contains the completion's own reward pulls its advantage toward zero. RLOO leaves it
out.

## Problem

Write `leave_one_out(rewards)`: each reward minus the mean of the *other* rewards of its group.

    Aᵢ = rᵢ - 1/(G-1) Σ_{j≠i} rⱼ

## Input

- rewards: (P, G), one row per prompt.

## Output

(P, G) advantages. A group of one has no others: its advantage is 0.

## Examples

    leave_one_out([[1, 0, 0]])
    -> [[1, -0.5, -0.5]]

1 - 0, and 0 - 1/2

## Notes

A completion that is in its own baseline pulls the gradient estimate towards 0; this one is
unbiased.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl `compute_rloo_vectorized_outcome_advantage`.

## See also

- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/leave_one_out
"""

import numpy as np


def leave_one_out(rewards):
    """Each reward minus the mean of the other rewards of its group."""
    raise NotImplementedError("advantages/leave_one_out")
