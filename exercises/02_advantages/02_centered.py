"""Only take the mean off  (easy, 1 point)

## Background

Dividing by the group's std makes a prompt that is nearly always solved, or nearly never, count more
than its rewards say. Dr. GRPO leaves the division out.

## Problem

Write `centered_advantages(rewards)`:

    Aᵢ = rᵢ - mean(r),    the mean over the completions of one prompt

## Input

- rewards: (P, G), one row per prompt.

## Output

(P, G) advantages, in units of reward; each row sums to zero.

## Examples

    centered_advantages([[1, 0, 0, 0]])
    -> [[0.75, -0.25, -0.25, -0.25]]

the mean is 1/4

## Constraints

- A group of one gets 0.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `scale_rewards="none"`.

## See also

- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/centered
"""

import numpy as np


def centered_advantages(rewards):
    """How much better than the mean of its group was each completion?"""
    raise NotImplementedError("advantages/centered")
