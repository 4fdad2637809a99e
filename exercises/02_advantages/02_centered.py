"""Only take the mean off  (easy, 1 point)

## Background

GRPO lets the policy, the language model in training, answer the same prompt G times and gives each
answer (each completion) a reward. What counts is the advantage: how much better a completion did
than the others of its prompt, its group. GRPO measures this distance in units of the group's
standard deviation. On a prompt that is nearly always solved, or nearly never, this deviation is
small, and dividing by it makes the one odd completion count very much: the policy is then pulled
most by the prompts that tell least. Dr. GRPO leaves the division out.

## Problem

Write `centered_advantages(rewards)`. It takes off the mean of the group, and nothing else:

    Aᵢ = rᵢ - mean(r)

The mean runs over the G completions of one prompt, the completion itself among them.

## Input

- rewards: one row per prompt, a group in each; shape (P, G); from -10000 to 10000.

## Output

(P, G) advantages, in units of reward; each row sums to zero.

## Examples

    centered_advantages([[1, 0, 0, 0]])
    -> [[0.75, -0.25, -0.25, -0.25]]

The mean is 1/4: 1 - 1/4, and three times 0 - 1/4.

## Constraints

- P and G are at least 1.
- Every number in rewards is 0 or at least 1e-15 in size.
- A group of one completion gets 0, and so does a group in which all rewards are equal.

## Notes

TRL does this with `scale_rewards="none"`, Open Instruct by default (`centered`), and verl with
`norm_adv_by_std_in_grpo=False`.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Liu et al. 2025, Dr. GRPO, sec. 3 (arXiv:2503.20783).

## See also

- grpo_ref.group_centered, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/centered
"""

import numpy as np


def centered_advantages(rewards):
    """How much better than the mean of its group was each completion?"""
    raise NotImplementedError("advantages/centered")
