"""The GRPO objective of one group

Hard, 3 points. GRADING.md says how answers are graded.

A language model, the policy πθ, has answered one prompt G times. Each answer o has an advantage A:
positive if it was better than the others of this group, negative if it was worse. In this problem
each answer is one outcome with one probability. The ratio ρ says how much likelier the outcome has
become since πold, the policy that wrote the answers. The objective grows when outcomes with a
positive advantage become likelier and those with a negative one rarer, but only as far as the clip
lets it, since the advantages were measured under πold and say little far away from it: this is
PPO's clipped ratio. PPO learns a second network, the value network, to judge an answer; GRPO does
without it, since it compares the answers with each other. From the gain it subtracts a penalty,
which pulls the policy toward a reference πref, the model from before the training. The penalty is a
KL divergence: it is 0 for equal distributions and grows as they part.

## Your task

Write `grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01)`.

Write `grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01)`:

    J = 1/G Σᵢ min(ρᵢ Aᵢ, clip(ρᵢ, 1-ε, 1+ε) Aᵢ) - β KL(πθ ‖ πref)
    KL(πθ ‖ πref) = Σᵢ πθᵢ log(πθᵢ / πrefᵢ + 1e-10),    πθ ∝ ρ πold

clip(ρ, 1-ε, 1+ε) is ρ held between 1-ε and 1+ε; ε is `epsilon`, β is `beta`. Both distributions are
normalized to sum to 1 before the KL: πθ is ρ πold divided by its sum, πref is divided by its sum.
log is the natural logarithm.

| argument       | meaning                                  | shape  | values       |
| -------------- | ---------------------------------------- | ------ | ------------ |
| `rhos`         | G likelihood ratios πθ(oᵢ)/πold(oᵢ)      | (G,)   | 0 to 100     |
| `A`            | G advantages                             | (G,)   | −100 to 100  |
| `pi_theta_old` | G probabilities, which need not sum to 1 | (G,)   | 0 to 100     |
| `pi_theta_ref` | G probabilities, which need not sum to 1 | (G,)   | 1e-12 to 100 |
| `epsilon`      | ε, the clip range                        | number | 0 to 0.99    |
| `beta`         | β, the weight of the KL                  | number | 0 to 10      |

* G is at least 1.
* At least one outcome has a ratio and an old probability above 0.
* Raise a ValueError for each of these inputs: rhos shorter than the others; A shorter than the
  others; pi_theta_old shorter than the others; pi_theta_ref shorter than the others.

The objective, a number.

* Clip the ratio to [1-ε, 1+ε], take the elementwise min with the unclipped term, then the mean.
* Normalize ρ πold and πref before the KL. Add 1e-10 inside the logarithm.
* Raise ValueError if the four lengths differ.

The tolerance of this exercise is 1e-11.

## Examples

    grpo_objective([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5], 0.2, 0.01)
    -> 1.032749, rounded

No ratio leaves 1 ± 0.2, so nothing is clipped and the mean is 3.1/3; β times the KL of 0.0584 comes
off.

    >>> grpo_objective([2.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], 0.2, 0.0)
    1.1

min(2, 1.2) = 1.2, and 1: their mean is 1.1. beta is 0, so there is no penalty.

## When it is solved

1e-10 keeps the logarithm finite where πθ is 0; there the term is 0 times a finite number, which is
0. This is the form of GRPO in problem sets. Trainers take one ratio for each token, and they
estimate the KL token by token instead of writing it out; the chapter on KL shows how.

## See also

* Source: Shao et al. 2024, DeepSeekMath (arXiv:2402.03300); the explicit KL is this problem's own.
* `grpo_ref.grpo_objective` is the same function in this package. Look at it when you are done.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_objective
"""

import numpy as np


def grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    """Clipped surrogate of one group minus beta times the KL to the reference."""
    raise NotImplementedError("objective/grpo_objective")
