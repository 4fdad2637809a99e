"""A soft gate instead of a cliff  (medium, 2 points)

## Background

Across PPO's bound the slope falls to 0 at once. SAPO lets it fade: full at a ratio of 1, small far
away, and with its own sharpness for good and for bad tokens.

## Problem

Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`, which returns value
and slope:

    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + e⁻ˣ),    τ = tau_positive where A > 0, else tau_negative
    slope = ∂s / ∂log r

## Input

- ratio: r = πθ/πold, positive.
- advantages: A, of the same shape.
- tau_positive, tau_negative: sharpness of the gate; larger is sharper.

## Output

A tuple (value, slope) of two arrays of the same shape.

## Examples

    sapo_surrogate([1.0, 1.0], [3.0, -3.0], 2.0, 4.0)
    -> ([3, -1.5], [3, -3])

the gate is 1/2: values 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3; slopes 4 · 1/4 · A

## Notes

The slope is with respect to log r, which is the slope with respect to log πθ: dr / d log r = r.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/sapo
"""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """Value and slope of the softly gated surrogate."""
    raise NotImplementedError("ratios/sapo")
