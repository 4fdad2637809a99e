"""The KL of a group's outcomes  (medium, 2 points)

## Background

The policy has answered one prompt G times. Take these G outcomes as all that can happen: then the
policy is a distribution over G outcomes, and so is the reference, the frozen model from before the
training. How far one is from the other can be written out as a KL over the group. The objective
that you will write in the chapter after next subtracts exactly this KL.

## Problem

Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`, the KL of the policy to the reference:

    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)

πold is the probability of an outcome under the policy that drew it, before the update; the ratio ρ
= πθ/πold says how much likelier the policy πθ of today finds it, so ρ πold is πθ. None of the
inputs sums to 1, since the group holds only some of all possible outcomes; so p and q are each
divided by their own sum. 1e-10 is added to the quotient, inside the logarithm, so that an outcome
of probability 0 adds 0 · log 1e-10 = 0. All sums run over the group, and the logarithm is the
natural one.

## Input

- rhos: ρ = πθ/πold of each outcome; shape (G,); from 0 to 100.
- pi_theta_old: πold of each outcome; need not sum to 1; shape (G,); from 0 to 10.
- pi_theta_ref: πref of each outcome; need not sum to 1; shape (G,); from 1e-12 to 10.

## Output

A number, in nats.

## Examples

    normalized_kl([1.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    -> 0.130812

ρ πold = 0.75 and 0.25 sum to 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5 and 0.5,
and 3/4 log 1.5 + 1/4 log 0.5 = 0.131.

## Constraints

- G is at least 2.
- Every number in rhos and pi_theta_old is 0 or at least 1e-15 in size.
- Σ ρ πold is positive.

## Notes

Because of the 1e-10, equal distributions have a KL of about 1e-10, not 0. Trainers do not compute
this KL; they estimate one token by token, as in the exercises before.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-11 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

grpo_ref.grpo_objective, its KL term.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/normalized_kl
"""

import numpy as np


def normalized_kl(rhos, pi_theta_old, pi_theta_ref):
    """KL of the new policy to the reference, over the outcomes of one group."""
    raise NotImplementedError("kl/normalized_kl")
