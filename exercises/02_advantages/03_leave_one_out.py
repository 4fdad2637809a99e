"""What did the others get?  (easy, 1 point)

## Background

GRPO lets the policy, the language model in training, answer the same prompt G times. Each answer
(each completion) gets a reward, and the completions of one prompt form a group. How good a reward
is depends on the prompt, so it is compared with a baseline, what was to be expected there. The mean
of the group is such a baseline, but the completion has a part in it: a good one raises the very bar
that it is measured by, and so every advantage comes out too small. RLOO (leave one out) asks only
what the others got.

## Problem

Write `leave_one_out(rewards)`: each reward minus the mean of the other rewards of its group.

    Aᵢ = rᵢ - 1/(G - 1) Σ_{j≠i} rⱼ

The sum runs over the G - 1 other completions of the same prompt.

## Input

- rewards: one row per prompt, a group in each; shape (P, G); from -10000 to 10000.

## Output

(P, G) advantages, in units of reward; each row sums to zero.

## Examples

    leave_one_out([[1, 0, 0]])
    -> [[1, -0.5, -0.5]]

The others of the first got 0 and 0: 1 - 0. The others of the second got 1 and 0: 0 - 1/2; the same
for the third.

## Constraints

- P and G are at least 1.
- Every number in rewards is 0 or at least 1e-15 in size.
- A group of one completion has no others: its advantage is 0.

## Notes

It is G/(G - 1) times the centered reward. verl's `rloo` keeps the reward itself for a group of one,
its `rloo_vectorized` gives 0 as here.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl `compute_rloo_vectorized_outcome_advantage`.

## See also

- grpo_ref.leave_one_out, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/leave_one_out
"""

import numpy as np


def leave_one_out(rewards):
    """Each reward minus the mean of the other rewards of its group."""
    raise NotImplementedError("advantages/leave_one_out")
