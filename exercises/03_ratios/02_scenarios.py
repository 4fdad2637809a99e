"""Four scenarios, and which of them still learn  (medium, 2 points)

## Background

A token is now likelier or less likely than when it was sampled, and it was good or bad. Without a
clip, all four scenarios train. With PPO's clip, two of them stop once the ratio has left the band,
and two never do.

## Problem

Write `scenarios(ratio, advantages, clip=0.2)`, which returns two arrays:

    scenario   1: ratio > 1, A > 0     2: ratio > 1, A < 0
               3: ratio < 1, A > 0     4: ratio < 1, A < 0     0: ratio = 1 or A = 0
    learns     whether min(r A, clip(r, 1-ε, 1+ε) A) still has a slope in r

## Input

- ratio: r = πθ/πold, positive.
- advantages: A, of the same shape.
- clip: ε.

## Output

A tuple (scenario, learns): whole numbers, and truth values (dtype bool), both of the shape of
ratio.

## Examples

    scenarios([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7])
    -> ([1, 2, 3, 4], [ True, True, True, True])

inside the band nothing is clipped

## Constraints

- On the bound itself a token still learns.
- A token without advantage does not.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

the table of scenarios in "A technical explanation of the GRPO loss function" (a blog post of
February 2025), which holds for the unclipped objective; the clip is Schulman et al. 2017, eq. 7
(arXiv:1707.06347).

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/scenarios
"""

import numpy as np


def scenarios(ratio, advantages, clip=0.2):
    """The scenario of each token, and whether it still learns."""
    raise NotImplementedError("ratios/scenarios")
