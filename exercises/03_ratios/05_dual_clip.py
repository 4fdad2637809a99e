"""A floor for bad tokens

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what the policy (the language model) climbs, one value for each token: its ratio r
(how much likelier it has become) times its advantage A (how much better its completion was than
others). PPO's clip holds a good token that has moved far up and a bad one that has moved far down.
It leaves one corner open: a bad token that has become ten times likelier counts ten times, and a
single one can dominate a whole batch. The dual clip puts a floor there.

## Your task

Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`.

Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`, one value for each token. With
PPO's clipped surrogate

    s = min(r A, clip(r, 1 - clip, 1 + clip) A)

it is

    max(s, max_ratio A)  where A < 0,    s elsewhere

clip(r, a, b) is r held between a and b. For a bad token both numbers in the maximum are negative:
its value never falls below that of a ratio of max_ratio.

* `ratio`: r = πθ/πold; number, (T,), (N, T) or (B, N, T); 1e-8 to 1e4.
* `advantages`: A; number, (T,), (N, T) or (B, N, T); −1e4 to 1e4.
* `clip`: how far the ratio may go up or down; number; 0 to 0.99.
* `max_ratio`: the cap for bad tokens; number; 1.01 to 50.

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

An array of the same shape; a number for numbers.

* clip is always less than 1 and max_ratio always greater than 1; no input has to be refused.
* max_ratio may be less than 1 + clip; the formula holds all the same.

## Examples

    >>> dual_clipped([5.0, 5.0], [-2.0, 1.0])
    [-6, 1.2]

Bad token: s = min(5 · -2, 1.2 · -2) = -10, and the floor is 3 · -2 = -6. Good token: s = min(5,
1.2) = 1.2, and there is no floor.

## When it is solved

verl always has this floor, with clip_ratio_c = 3. TRL has it only where `delta` is set, which caps
r before the minimum is taken.

## See also

* Source: Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.
* `grpo_ref.dual_clipped` is the same function in this package. Look at it when you are done.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/dual_clip
"""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """The clipped surrogate with a floor where the advantage is negative."""
    raise NotImplementedError("ratios/dual_clip")
