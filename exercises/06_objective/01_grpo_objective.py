"""The GRPO objective of one group  (hard, 3 points)

## Background

GRPO drops PPO's value network: it compares the rewards of a group of responses to the same prompt.
It keeps PPO's clipped ratio, and adds a penalty that pulls the policy toward a reference model.

## Problem

Write `grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01)`:

    J = 1/G Σᵢ min(ρᵢ Aᵢ, clip(ρᵢ, 1-ε, 1+ε) Aᵢ) - β KL(πθ ‖ πref)
    KL(πθ ‖ πref) = Σᵢ πθᵢ log(πθᵢ / πrefᵢ + 1e-10),    πθ ∝ ρ πold

Both distributions are normalized to sum to 1 before the KL.

## Input

- rhos: G likelihood ratios πθ(oᵢ)/πold(oᵢ).
- A: G advantages.
- pi_theta_old, pi_theta_ref: G probabilities each, not necessarily summing to 1. A ratio or an old
  probability may be 0; those of the reference are positive.
- epsilon, beta: clip range and weight of the KL.

## Output

The objective, a number.

## Examples

    grpo_objective([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5], 0.2, 0.01)
    -> 1.032749, rounded

No ratio leaves 1 ± 0.2, so nothing is clipped and the mean is 3.1/3; β times the KL of 0.0584 comes
off.

## Constraints

- Clip the ratio to [1-ε, 1+ε], take the elementwise min with the unclipped term, then the mean.
- Normalize ρ πold and πref before the KL. Add 1e-10 inside the logarithm.
- Raise ValueError if the four lengths differ. Leave the inputs as they are; lists and integers must
  do.

## Notes

Trainers estimate the KL token by token instead of writing it out; the chapter on KL shows how.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-11 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Shao et al. 2024, DeepSeekMath (arXiv:2402.03300); the explicit KL is this problem's own.

## See also

- notebooks/01_the_objective.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade objective/grpo_objective
"""

import numpy as np


def grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    """Clipped surrogate of one group minus beta times the KL to the reference."""
    raise NotImplementedError("objective/grpo_objective")
