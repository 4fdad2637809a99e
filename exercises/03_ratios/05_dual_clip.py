"""A floor for bad tokens  (medium, 2 points)

## Background

PPO's clip leaves one corner open: a bad token that has become ten times likelier counts ten times,
and one such token can dominate a batch. verl always puts a floor there.

## Problem

Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`, one value per token:

    s = min(r A, clip(r, 1 - clip, 1 + clip) A)
    dual = max(s, max_ratio A) where A < 0,    s elsewhere

## Input

- ratio: r = πθ/πold, positive, any shape.
- advantages: A, of the same shape.
- clip: half-width.
- max_ratio: caps the weight of a bad token.

## Output

An array of the same shape.

## Examples

    dual_clipped([5.0], [-1.0])
    -> [-3]

max(-5, -3)

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`, clip_ratio_c =
3.

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/dual_clip
"""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """The clipped surrogate with a floor where the advantage is negative."""
    raise NotImplementedError("ratios/dual_clip")
