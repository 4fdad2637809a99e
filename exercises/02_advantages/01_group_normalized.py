"""Score each completion against its own group  (easy, 2 points)

## Background

GRPO lets the policy answer the same prompt G times and gives each answer (each completion) a
reward. Was a reward of 0.6 good? That depends on the prompt: where the other answers got 0.1 it
was, where they got 0.9 it was not. So GRPO compares a completion with the others of its prompt,
which form its group. The result is the advantage: positive for a completion that shall become more
likely, negative for one that shall become less likely. Older methods train a second network to say
what to expect; here the group says it.

## Problem

Write `group_advantages(rewards, eps=1e-4)`. It gives every completion the distance of its reward
from the mean of its group, in units of the group's standard deviation:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)

Mean and standard deviation run over the completions of one prompt. The standard deviation is the
one of a population: it divides the sum of squares by G, not by G - 1. eps is added to it, so that a
group in which all rewards are equal gets 0 and not 0/0.

## Input

- rewards: one row per prompt; shape (P, G); from -10000 to 10000.
- eps: keeps a group of equal rewards at 0 instead of 0/0; from 1e-08 to 1; 0.0001 if left out.

## Output

(P, G) advantages; each row sums to zero.

## Examples

    group_advantages([[0, 1]])
    -> [[-0.9998, 0.9998]]

The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.

## Constraints

- P and G are at least 1.
- Every number in rewards is 0 or at least 1e-15 in size.
- A group of one completion gets 0.

## Notes

Trainers differ in this line: TRL (eps 1e-4) and verl (eps 1e-6) divide by G - 1, Open Instruct (eps
1e-8) by G.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300); Open Instruct's `standard`.

## See also

- grpo_ref.group_normalized, the same in this package: look at it when you are done.
- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/group_normalized
"""

import numpy as np


def group_advantages(rewards, eps=1e-4):
    """How much better than its siblings was each completion?"""
    raise NotImplementedError("advantages/group_normalized")
