"""Which groups teach anything?  (easy, 1 point)

## Background

When all completions of a prompt are right, or all wrong, every advantage is 0. DAPO draws such
prompts anew.

## Problem

Write `mixed_groups(rewards)`: for each group, whether its completions differ in reward.

## Input

- rewards: (P, G), one row per prompt.

## Output

(P,) truth values, dtype bool.

## Examples

    mixed_groups([[1, 0], [1, 1], [0, 0]])
    -> [ True, False, False]

only the first has a contrast

## Constraints

- Rewards are compared exactly: three of 0.1 are equal, whatever rounding makes of their mean.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476); Open Instruct `filter_zero_std_samples`.

## See also

- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/mixed_groups
"""

import numpy as np


def mixed_groups(rewards):
    """Whether the completions of each group differ in reward."""
    raise NotImplementedError("advantages/mixed_groups")
