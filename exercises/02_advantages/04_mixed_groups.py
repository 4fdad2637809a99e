"""Which groups teach anything?  (easy, 1 point)

## Background

The policy, the language model in training, answers the same prompt G times, and these answers
(completions) form a group. A completion's advantage says how much better its reward is than the
rest of the group. If all completions of a prompt are right, or all wrong, there is no better and no
worse: every advantage is 0 and the prompt teaches nothing, although its completions have cost as
much to write as the others. DAPO throws such groups away and draws other prompts until the batch is
full.

## Problem

Write `mixed_groups(rewards)`. For each group it says whether its completions differ in reward:

    True if rᵢ ≠ rⱼ for some completions i and j of the group, else False

Rewards are any numbers, not only 0 and 1. They are compared exactly: a difference of 1e-12 is one,
and three rewards of 0.1 are equal, whatever rounding makes of their mean.

## Input

- rewards: one row per prompt, a group in each; shape (P, G); from -10000 to 10000.

## Output

(P,) truth values, Python's or NumPy's (dtype bool).

## Examples

    mixed_groups([[1, 0], [1, 1], [0, 0]])
    -> [ True, False, False]

The rewards of the first group differ; the second is all right and the third all wrong.

## Constraints

- P and G are at least 1.
- Every number in rewards is 0 or at least 1e-15 in size.
- A group of one completion has nothing to differ from: False.

## Notes

Trainers look at the standard deviation: verl keeps groups where it is above 0, and groups of one;
Open Instruct drops those where it is 0 (`filter_zero_std_samples`). Rounding can make it 1e-17
where all rewards are equal.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476).

## See also

- grpo_ref.mixed_groups, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/mixed_groups
"""

import numpy as np


def mixed_groups(rewards):
    """Whether the completions of each group differ in reward."""
    raise NotImplementedError("advantages/mixed_groups")
