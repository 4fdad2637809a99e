"""Several rewards, none of which drowns the others  (medium, 2 points)

## Background

Correctness, format, length: when several rewards are added before they are normalized, the one with
the widest spread decides alone. GDPO normalizes each one in its group first.

## Problem

Write `gdpo_advantages(components, weights, eps=1e-4)`, in three steps:

    Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps),    mean and std over the G completions of one prompt
    aᵢ  = Σₖ wₖ Aᵢₖ
    Aᵢ  = (aᵢ - mean(a)) / (std(a) + eps),    mean and std over all completions of the batch

## Input

- components: (P, G, K), one reward a criterion.
- weights: (K,).
- eps: added to every std.

## Output

(P, G) advantages.

## Examples

    gdpo_advantages([[[1, 0], [0, 100]]], [1.0, 0.5], 0.0)
    -> [[1, -1]]

the first completion has 1 and -1, together 1 - 0.5 = 0.5; the second has -0.5; their std is 0.5

## Constraints

- Every std divides by the number of its members (ddof 0).

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`, there with ddof 1.

## See also

- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/gdpo
"""

import numpy as np


def gdpo_advantages(components, weights, eps=1e-4):
    """Normalize each criterion in its group, sum with the weights, normalize over the batch."""
    raise NotImplementedError("advantages/gdpo")
