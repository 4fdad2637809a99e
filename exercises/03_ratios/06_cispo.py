"""A weight that is capped, and a gradient that never dies  (medium, 2 points)

## Background

PPO's clip takes the gradient away from exactly the rare tokens that moved most: `However`, `Wait`.
CISPO goes back to REINFORCE, A log πθ, weighted by the ratio; it caps the weight and holds it
constant, so that every token trains.

## Problem

The surrogate of a token is s = sg[min(r, cap)] A log πθ, where sg (stop-gradient) means: treat as a
constant. Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`, its derivative

    ∂s / ∂log πθ

## Input

- log_ratio: log πθ - log πold, in nats.
- advantages: A, of the same shape.
- max_ratio: the cap.

## Output

An array of the same shape.

## Examples

    cispo_slope([0.0], [2.0])
    -> [2]

the weight is 1

    cispo_slope([2.19722], [2.0])
    -> [10]

5 · 2: capped, but not 0

## Notes

TRL's epsilon_high is the cap itself; Open Instruct's cap is 1 + clip_higher; verl also has a lower
bound.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`.

## See also

- notebooks/04_gallery_of_surrogates.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade ratios/cispo
"""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """The derivative of the surrogate with respect to log πθ, the weight held constant."""
    raise NotImplementedError("ratios/cispo")
