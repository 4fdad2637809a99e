"""A floor for bad tokens  (medium, 2 points)

## Background

The surrogate is what the policy (the language model) climbs, one value for each token: its ratio r
(how much likelier it has become) times its advantage A (how much better its completion was than
others). PPO's clip holds a good token that has moved far up and a bad one that has moved far down.
It leaves one corner open: a bad token that has become ten times likelier counts ten times, and a
single one can dominate a whole batch. The dual clip puts a floor there.

## Problem

Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`, one value for each token. With
PPO's clipped surrogate

    s = min(r A, clip(r, 1 - clip, 1 + clip) A)

it is

    max(s, max_ratio A)  where A < 0,    s elsewhere

clip(r, a, b) is r held between a and b. For a bad token both numbers in the maximum are negative:
its value never falls below that of a ratio of max_ratio.

## Input

- ratio: r = πθ/πold; a number or shape (T,) or (N, T) or (B, N, T); from 1e-08 to 10000.
- advantages: A; a number or shape (T,) or (N, T) or (B, N, T); from -10000 to 10000.
- clip: how far the ratio may go up or down; from 0 to 0.99; 0.2 if left out.
- max_ratio: the cap for bad tokens; from 1.01 to 50; 3.0 if left out.

## Output

An array of the same shape; a number for numbers.

## Examples

    dual_clipped([5.0, 5.0], [-2.0, 1.0])
    -> [-6, 1.2]

Bad token: s = min(5 · -2, 1.2 · -2) = -10, and the floor is 3 · -2 = -6. Good token: s = min(5,
1.2) = 1.2, and there is no floor.

## Constraints

- ratio and advantages have the same shape.
- B, N and T are at least 1.
- Every number in advantages is 0 or at least 1e-15 in size.
- clip is always less than 1 and max_ratio always greater than 1; no input has to be refused.
- max_ratio may be less than 1 + clip; the formula holds all the same.

## Notes

verl always has this floor, with clip_ratio_c = 3. TRL has it only where `delta` is set, which caps
r before the minimum is taken.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.

## See also

- grpo_ref.dual_clipped, the same in this package: look at it when you are done.
- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/dual_clip
"""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """The clipped surrogate with a floor where the advantage is negative."""
    raise NotImplementedError("ratios/dual_clip")
