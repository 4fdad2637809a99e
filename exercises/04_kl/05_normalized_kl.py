"""The KL of a group's outcomes

Medium, 2 points. GRADING.md says how answers are graded.

The policy has answered one prompt G times. Take these G outcomes as all that can happen: then the
policy is a distribution over G outcomes, and so is the reference, the frozen model from before the
training. How far one is from the other can be written out as a KL over the group. The objective
that you will write in the chapter after next subtracts exactly this KL.

## Your task

Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`.

Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`, the KL of the policy to the reference:

    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)

πold is the probability of an outcome under the policy that drew it, before the update; the ratio ρ
= πθ/πold says how much likelier the policy πθ of today finds it, so ρ πold is πθ. None of the
inputs sums to 1, since the group holds only some of all possible outcomes; so p and q are each
divided by their own sum. 1e-10 is added to the quotient, inside the logarithm, so that an outcome
of probability 0 adds 0 · log 1e-10 = 0. All sums run over the group, and the logarithm is the
natural one.

| argument       | meaning                                 | shape | values      |
| -------------- | --------------------------------------- | ----- | ----------- |
| `rhos`         | ρ = πθ/πold of each outcome             | (G,)  | 0 to 100    |
| `pi_theta_old` | πold of each outcome; need not sum to 1 | (G,)  | 0 to 10     |
| `pi_theta_ref` | πref of each outcome; need not sum to 1 | (G,)  | 1e-12 to 10 |

* G is at least 2.
* Σ ρ πold is positive.

A number, in nats.

The tolerance of this exercise is 1e-11.

## Examples

    >>> normalized_kl([1.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    0.13081203604113698

ρ πold = 0.75 and 0.25 sum to 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5 and 0.5,
and 3/4 log 1.5 + 1/4 log 0.5 = 0.131.

## When it is solved

Because of the 1e-10, equal distributions have a KL of about 1e-10, not 0. Trainers do not compute
this KL; they estimate one token by token, as in the exercises before.

## See also

* Source: grpo_ref.grpo_objective, its KL term.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/normalized_kl
"""

import numpy as np


def normalized_kl(rhos, pi_theta_old, pi_theta_ref):
    """KL of the new policy to the reference, over the outcomes of one group."""
    raise NotImplementedError("kl/normalized_kl")
