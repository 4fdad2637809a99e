"""A weight that is capped, and a gradient that never dies  (medium, 2 points)

## Background

PPO's clip takes the slope away from exactly those tokens that moved most, and these are often rare
tokens that matter, such as a `However` or a `Wait` where the text takes a turn. CISPO keeps every
token in training. It goes back to the plain policy gradient (REINFORCE), which raises log πθ, the
log-probability of a token, in proportion to its advantage A (how much better its completion was
than others). As the completions were written by an older policy, each token is weighted by its
ratio r = πθ/πold (how much likelier it has become); that weight is capped, so that no token can
dominate, and it is held constant, so that nothing but the logarithm is differentiated.

## Problem

The surrogate of a token is

    s = sg[min(r, max_ratio)] A log πθ,    r = exp(log_ratio)

sg (stop-gradient) means that what stands in the brackets is treated as a constant when s is
differentiated. Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`, the derivative of s with
respect to log πθ, for each token:

    ∂s / ∂log πθ

## Input

- log_ratio: log πθ - log πold, in nats; a number or shape (T,) or (N, T) or (B, N, T); from -300 to
  300.
- advantages: A; a number or shape (T,) or (N, T) or (B, N, T); from -10000 to 10000.
- max_ratio: the cap; from 0.1 to 100; 5.0 if left out.

## Output

An array of the same shape; a number for numbers.

## Examples

    cispo_slope([0.0, 2.0, 2.0], [2.0, 3.0, -3.0])
    -> [2, 15, -15]

The first weight is exp(0) = 1. exp(2) = 7.39 is above the cap, so the weight is 5 for the good and
for the bad token: capped, but not 0.

## Constraints

- log_ratio and advantages have the same shape.
- B, N and T are at least 1.
- Every number in log_ratio and advantages is 0 or at least 1e-15 in size.
- The cap is for good and bad tokens alike, and there is no lower bound.
- The cap may be less than 1; no input has to be refused.

## Notes

The trainers' caps differ: TRL's epsilon_high is the cap itself, Open Instruct's cap is 1 +
clip_higher, and verl also has a lower bound.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`.

## See also

- grpo_ref.cispo, the same in this package: look at it when you are done.
- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/cispo
"""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """The derivative of the surrogate with respect to log πθ, the weight held constant."""
    raise NotImplementedError("ratios/cispo")
