"""The GRPO objective of one group

Hard, 3 points. GRADING.md says how answers are graded.

A language model, the policy πθ, has answered one prompt G times. The advantage A of an answer is
positive if the answer was better than the others of this group, and negative if it was worse. Here
each answer is one outcome with one probability. The ratio ρ = πθ/πold measures how much more likely
the outcome has become since πold, the policy that sampled the answers.

The objective grows when good outcomes become more likely and bad ones less likely, but only until
the clip acts: the advantages were measured under πold and say little far away from it. A penalty
pulls the policy toward the reference πref, the model before training.

## Your task

Write `grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01)`.

Return the objective, a number to be maximized:

    J = 1/G Σᵢ min(ρᵢ Aᵢ, clip(ρᵢ, 1-ε, 1+ε) Aᵢ) - β KL(πθ ‖ πref)
    KL(πθ ‖ πref) = Σᵢ πθᵢ log(πθᵢ / πrefᵢ + 1e-10),    πθ ∝ ρ πold

clip(ρ, a, b) is a where ρ < a, b where ρ > b, and ρ in between. ε is `epsilon`, β is `beta`, and
log is the natural logarithm. Normalize both distributions before you compute the KL: divide ρ πold
by its sum to get πθ, and divide πref by its sum.

| argument       | meaning                            | shape  | values       |
| -------------- | ---------------------------------- | ------ | ------------ |
| `rhos`         | ρ = πθ/πold, one ratio per outcome | (G,)   | 0 to 100     |
| `A`            | A, one advantage per outcome       | (G,)   | −100 to 100  |
| `pi_theta_old` | proportional to πold; any sum      | (G,)   | 0 to 100     |
| `pi_theta_ref` | proportional to πref; any sum      | (G,)   | 1e-12 to 100 |
| `epsilon`      | ε, half-width of the clip range    | number | 0 to 0.99    |
| `beta`         | β, weight of the KL                | number | 0 to 10      |

* G is at least 1.
* At least one outcome has both `rhos` and `pi_theta_old` above 0.
* Raise a ValueError for this input: arrays that do not all have the same length.

Because of the 1e-10, the KL of equal distributions is 1e-10 and not 0.

The tolerance of this exercise is 1e-11.

## Examples

**The defaults.** No ratio is outside 1 ± 0.2, so no ratio is clipped.

    >>> grpo_objective([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5])
    1.032749

The mean of the ratios is 3.1/3 = 1.033333. ρ πold is 1.08, 0.88, 1.1, so πθ is 0.352941, 0.287582,
0.359477. πref is 1/3, 1/6, 1/2. The KL is 0.0584404, and 0.01 times the KL is subtracted.

**The upper bound clips good outcomes.** There is no penalty, because β is 0.

    >>> grpo_objective([2.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], 0.2, 0.0)
    1.1

min(2, 1.2) = 1.2, and the second outcome gives 1: their mean is 1.1.

**The lower bound clips bad outcomes.**

    >>> grpo_objective([2.0, 0.5], [-1.0, -1.0], [1.0, 1.0], [1.0, 1.0], 0.2, 0.0)
    -1.4

min(-2, -1.2) = -2 is not clipped, min(-0.5, -0.8) = -0.8 is clipped: their mean is -1.4.

**A ratio of 0.** The advantages are 0, so only the penalty remains.

    >>> grpo_objective([0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], 0.2, 1.0)
    -0.693147

πθ is 0, 1 and πref is 1/2, 1/2. The KL is 0 · log(1e-10) + 1 · log(2 + 1e-10) = 0.693147.

## When it is solved

This is the form of GRPO in problem sets. Trainers compute one ratio per token and estimate the KL
per token, as in the next exercise. PPO trains a second network to judge an answer. GRPO does not
need this network, because it compares the answers of a group.

## See also

* Source: Shao et al. 2024, DeepSeekMath (arXiv:2402.03300); the explicit KL is specific to this
  exercise.
* `grpo_ref.grpo_objective` computes the same in this package. Look at it when you are done.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_objective
"""

import numpy as np


def grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    """Return the clipped surrogate of one group minus beta times the KL to the reference."""
    raise NotImplementedError("objective/grpo_objective")
