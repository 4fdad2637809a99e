"""Not further than that  (medium, 2 points)

## Background

A batch of completions is used for several steps, and with every step the policy (the language
model) moves away from the one that wrote them. The surrogate is what the policy climbs: for each
token, its ratio r = πθ/πold (how much likelier it has become) times its advantage A (how much
better its completion was than others). Climbing r A without a limit would push a good token ever
further on the evidence of one sample. PPO stops rewarding a token that has already been pushed far
enough; DAPO lets good tokens go further up than bad ones go down.

## Problem

Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`, one value for each token:

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

clip(r, a, b) is r held between a and b: a where r < a, b where r > b. The smaller of the two
products counts. So the value is held only where the token has moved in the direction of its
advantage: above 1 + clip_high if A > 0, below 1 - clip_low if A < 0.

## Input

- ratio: r = πθ/πold; a number or shape (T,) or (N, T) or (B, N, T); from 1e-08 to 10000.
- advantages: A; a number or shape (T,) or (N, T) or (B, N, T); from -10000 to 10000.
- clip_low: how far the ratio may go down; from 0 to 0.99; 0.2 if left out.
- clip_high: how far it may go up; from 0 to 20; 0.2 if left out.

## Output

An array of the same shape; a number for numbers.

## Examples

    clipped_surrogate([1.5, 1.5], [1.0, -2.0])
    -> [1.2, -3]

Good token: 1.5 is held at 1.2, and min(1.5 · 1, 1.2 · 1) = 1.2. Bad token: min(1.5 · -2, 1.2 · -2)
= min(-3, -2.4) = -3, so it is not held.

## Constraints

- ratio and advantages have the same shape.
- B, N and T are at least 1.
- Every number in advantages is 0 or at least 1e-15 in size.
- clip_low is always less than 1; no input has to be refused.

## Notes

TRL and verl take 0.2 for both; DAPO takes clip_high = 0.28, which is called clip-higher. The loss
of a trainer is the surrogate with a minus sign.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Schulman et al. 2017, eq. 7 (arXiv:1707.06347); DAPO, eq. 10 (arXiv:2503.14476).

## See also

- grpo_ref.clipped, the same in this package: look at it when you are done.
- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/clipped
"""

import numpy as np


def clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2):
    """PPO's pessimistic surrogate, one value a token."""
    raise NotImplementedError("ratios/clipped")
