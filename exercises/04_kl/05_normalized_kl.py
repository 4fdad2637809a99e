"""The KL over one group

Medium, 2 points. GRADING.md says how answers are graded.

The policy has answered one prompt G times. Treat these G outcomes as everything that can happen.
Then the policy is a distribution over G outcomes, and so is the reference, the frozen model from
before the training.

The KL says how far the policy is from the reference, and over a group it can be written out. The
GRPO objective that you will write in chapter 6 subtracts exactly this KL.

## Your task

Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`.

Return the KL from the policy to the reference:

    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)

πold is the probability of an outcome under the policy that sampled it, before the update. The ratio
ρ = πθ/πold compares it with πθ, the probability under the current policy, so ρ πold is πθ. πref is
the probability under the reference. All sums run over the group, and the logarithm is the natural
one.

The group holds only some of all possible outcomes, so the probabilities need not sum to 1. p and q
do: each is divided by its own sum. So the scale of the inputs does not matter; in the tests, some
are larger than 1.

The 1e-10 is added to the quotient, inside the logarithm. An outcome with p = 0 then adds 0 · log
1e-10 = 0. Put the 1e-10 exactly there: the tests are precise enough to notice another place.

| argument       | meaning                     | shape | values      |
| -------------- | --------------------------- | ----- | ----------- |
| `rhos`         | ρ = πθ/πold of each outcome | (G,)  | 0 to 100    |
| `pi_theta_old` | πold of each outcome        | (G,)  | 0 to 10     |
| `pi_theta_ref` | πref of each outcome        | (G,)  | 1e-12 to 10 |

* G is at least 2.
* Σ ρ πold is positive.

Return a number, in nats.

The tolerance of this exercise is 1e-11.

## Examples

**The first outcome has become more likely.**

    >>> normalized_kl([1.5, 0.5], [0.5, 0.5], [0.5, 0.5])
    0.130812

ρ πold is 0.75 and 0.25, with the sum 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5 and
0.5, and 3/4 log 1.5 + 1/4 log 0.5 = 0.130812.

**An impossible outcome, and sums other than 1.**

    >>> normalized_kl([2.0, 0.5, 0.0], [0.3, 0.4, 0.1], [0.2, 0.2, 0.4])
    0.823959

ρ πold is 0.6, 0.2 and 0, with the sum 0.8, so p = 3/4, 1/4, 0. πref also sums to 0.8, so q = 1/4,
1/4, 1/2. The KL is 3/4 log 3 + 1/4 log 1 + 0 = 0.823959.

**Ratios of 1 do not mean a KL of 0.** The policy has not changed in this update, but it is not the
reference.

    >>> normalized_kl([1.0, 1.0], [0.2, 0.6], [0.5, 0.5])
    0.130812

p = 1/4, 3/4 and q = 1/2, 1/2.

## When it is solved

With the 1e-10, equal distributions have a KL of about 1e-10 and not 0. Trainers do not compute this
KL. They estimate the KL token by token, as k1, k2 and k3 do. Next: the expected gradient of these
estimates.

## See also

* Source: grpo_ref.grpo_objective, its KL term.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/normalized_kl
"""

import numpy as np


def normalized_kl(rhos, pi_theta_old, pi_theta_ref):
    """Return the KL from the current policy to the reference, over the outcomes of one group."""
    raise NotImplementedError("kl/normalized_kl")
