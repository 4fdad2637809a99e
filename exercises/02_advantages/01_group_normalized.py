"""Score each completion against its own group  (easy, 2 points)

## Background

GRPO needs no value network: the other completions of the same prompt are the yardstick.

## Problem

Write `group_advantages(rewards, eps=1e-4)`:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + eps),    mean and std over the completions of one prompt

## Input

- rewards: one row per prompt; shape (P, G); from -10000 to 10000.
- eps: keeps a group of equal rewards at 0 instead of 0/0; from 1e-08 to 1; 0.0001 if left out.

## Output

(P, G) advantages; each row sums to zero.

## Examples

    group_advantages([[0, 1]])
    -> [[-0.9998, 0.9998]]

mean 1/2, std 1/2, eps 1e-4: ± 0.5 / 0.5001

## Constraints

- std divides by G, not by G - 1. eps is added to std.
- A group of one gets 0.

## Notes

Trainers disagree: TRL (eps 1e-4) and verl (1e-6) divide by G - 1, Open Instruct (1e-8) by G.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300); Open Instruct's `standard`.

## See also

- notebooks/08_several_rewards.ipynb (`grpo-ref notebooks` writes it)

Check me: grpo-ref grade advantages/group_normalized
"""

import numpy as np


def group_advantages(rewards, eps=1e-4):
    """How much better than its siblings was each completion?"""
    raise NotImplementedError("advantages/group_normalized")
