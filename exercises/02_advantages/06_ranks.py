"""Ranks instead of rewards  (medium, 2 points)

## Background

The policy, the language model in training, answers a prompt G times; these answers (completions)
form a group, and each gets a reward. Where the reward comes from a model of people's taste, the
order of the answers may be right while the numbers mean little: is the step from 0.1 to 0.2 the
same as that from 30 to 31? GOPO keeps the order alone. The best of a group gets the advantage 2,
the worst -2, and the others lie evenly in between, whatever the rewards are.

## Problem

Write `rank_advantages(rewards)`:

    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1)

The best completion of a group of G has rank 1, the worst rank G. Equal rewards share the mean of
the ranks that they take up together: two at the top, on the places 1 and 2, have rank 1.5 each.
Rewards are compared exactly; a difference of 1e-12 makes one better.

## Input

- rewards: one row per prompt, a group in each; shape (P, G); from -10000 to 10000.

## Output

(P, G) advantages between -2 and 2; each row sums to zero.

## Examples

    rank_advantages([[0.1, 30.0, 0.2]])
    -> [[-2, 2, 0]]

30 is the best, rank 1: 2 - 0 = 2. Then 0.2, rank 2: 2 - 4/2 = 0. Then 0.1, rank 3: 2 - 8/2 = -2.

    rank_advantages([[5, 1, 5, 0]])
    -> [[1.33333, -0.666667, 1.33333, -2]]

The two best share the ranks 1 and 2: 2 - 4 · 0.5/3 = 4/3. Ranks 3 and 4 give 2 - 8/3 and 2 - 12/3.

## Constraints

- P and G are at least 1.
- Every number in rewards is 0 or at least 1e-15 in size.
- A group of one completion gets 0, and so does a group in which all rewards are equal.

## Notes

The abstract does not say how ties are ranked; the mean rank keeps the sum of a group at 0. No
trainer has it built in.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

GOPO, abstract (arXiv:2602.03876).

## See also

- grpo_ref.ranked, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/ranks
"""

import numpy as np


def rank_advantages(rewards):
    """Advantages from 2 for the best of a group down to -2 for the worst."""
    raise NotImplementedError("advantages/ranks")
