"""The KL of a group's outcomes  (medium, 2 points)

## Background

The next chapter but one builds an objective with an explicit KL: the G outcomes of a group are
taken as one distribution, under the new policy and under the reference. Trainers estimate it token
by token instead.

## Problem

Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`:

    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)

## Input

- rhos: ρ = πθ/πold of each outcome, so ρ πold is πθ.
- pi_theta_old: πold of each outcome; need not sum to 1.
- pi_theta_ref: πref, positive; need not sum to 1.

## Output

A number, in nats.

## Examples

    normalized_kl([1.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    -> 0.13081203604113698

p = 3/4, 1/4 and q = 1/2, 1/2: quotients 1.5 and 0.5

## Constraints

- 1e-10 stands inside the logarithm, so that an outcome of probability 0 adds 0.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-11 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

the KL term of `objective/grpo_objective`.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/normalized_kl
"""

import numpy as np


def normalized_kl(rhos, pi_theta_old, pi_theta_ref):
    """KL of the new policy to the reference, over the outcomes of one group."""
    raise NotImplementedError("kl/normalized_kl")
