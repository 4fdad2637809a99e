"""A soft gate instead of a cliff  (medium, 2 points)

## Background

The surrogate is what the policy (the language model) climbs, one value for each token; its slope
says how hard a token pushes. PPO's clip is a cliff: a token pushes with full force as long as its
ratio r = πθ/πold (how much likelier it has become) is within the bounds, and not at all beyond.
SAPO puts a soft gate there: the push is full at r = 1 and fades with the distance from 1. The gate
has a sharpness τ (a temperature) for good tokens, those with a positive advantage A (their
completion was better than others), and another one for bad tokens.

## Problem

Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`, which returns two
arrays: the surrogate s of each token, and its slope with respect to log r.

    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + exp(-x))
    slope = ∂s / ∂log r

τ is tau_positive where A > 0, and tau_negative elsewhere. Derive the slope by the chain rule, from

    dσ/dx = σ(x) (1 - σ(x))    and    dr / d log r = r

Both must be exact to the tolerance even where they are tiny. At r = 40, A = 1 and τ = 1 the slope
is 1.8e-15 and not 0, though σ(39) is so close to 1 that 1 - σ(39) is computed as 0. In exact
numbers it equals σ(-39), and that keeps its digits.

## Input

- ratio: r = πθ/πold; a number or shape (T,) or (N, T) or (B, N, T); from 0.01 to 50.
- advantages: A; a number or shape (T,) or (N, T) or (B, N, T); from -10000 to 10000.
- tau_positive: sharpness of the gate for good tokens; from 0.1 to 10; 1.0 if left out.
- tau_negative: for all others; from 0.1 to 10; 1.05 if left out.

## Output

A tuple (value, slope) of two arrays of the same shape, or of two numbers for numbers.

## Examples

    sapo_surrogate([1.0, 1.0, 2.0], [3.0, -3.0, 1.0], 2.0, 4.0)
    -> ([3, -1.5, 1.76159], [3, -3, 0.839949])

At r = 1 the gate is σ(0) = 1/2: values 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3, slopes 4 · 1/2 · 1/2 · A.
At r = 2 it is σ(2) = 0.880797: value 4/2 · 0.880797, slope 4 · 0.880797 · 0.119203 · 2.

## Constraints

- ratio and advantages have the same shape.
- B, N and T are at least 1.
- Every number in advantages is 0 or at least 1e-15 in size.
- Both temperatures are positive; no input has to be refused.

## Notes

A larger τ is a sharper gate. The factor 4/τ makes the slope at r = 1 equal to A, whatever τ is. TRL
and verl compute the value only and leave the slope to automatic differentiation.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude (of each array
by itself), and by 1e-09 where all expected values are 0; no test asks for a value that rounding
decides, such as what is left where numbers cancel. There are no points until the examples above are
right; then up to half of them for the tests that pass, and all of them when every test passes.

## Source

SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.

## See also

- grpo_ref.sapo, the same in this package: look at it when you are done.
- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/sapo
"""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """Value and slope of the softly gated surrogate."""
    raise NotImplementedError("ratios/sapo")
