"""SAPO's soft gate

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what a token adds to the objective, and its slope measures how strongly the token
moves the policy. Let r = πθ/πold be the token's probability now, divided by its probability when it
was sampled. With PPO's clip, the slope of a good token drops to 0 as soon as r exceeds a bound.

SAPO replaces the clip by a smooth function, the *gate*. Without a clip, the slope would be r A.
With the gate, the slope is r A times a factor that is 1 at r = 1 and falls smoothly on both sides.
The sharpness τ of the gate has one value for good tokens, whose advantage A is positive, and
another for all other tokens. The picture compares SAPO's slope with PPO's.

The picture is in 07_sapo.svg.

## Your task

Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`.

Return the surrogate s of each token and its slope:

    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + exp(-x))
    slope = ∂s / ∂log r

τ is `tau_positive` where A > 0 and `tau_negative` elsewhere. Derive the slope with the chain rule
from

    dσ/dx = σ(x) (1 - σ(x))    and    dr / d log r = r

In floating point, 1 - σ(39) is 0, although the exact number is 1.2e-17. Some tests contain only
such tokens, so your slope must be accurate there.

| argument       | meaning                    | shape                             | values      |
| -------------- | -------------------------- | --------------------------------- | ----------- |
| `ratio`        | r = πθ/πold of each token  | number, (T,), (N, T) or (B, N, T) | 0.01 to 50  |
| `advantages`   | A, advantage of each token | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `tau_positive` | τ of the gate where A > 0  | number                            | 0.1 to 10   |
| `tau_negative` | τ of the gate elsewhere    | number                            | 0.1 to 10   |

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

Return a tuple (value, slope) of two arrays of the same shape, or of two numbers if the inputs are
numbers.

## Examples

**Two values of τ.** τ is 2 for the good tokens and 4 for the bad one.

    >>> sapo_surrogate([1.0, 1.0, 2.0], [3.0, -3.0, 1.0], 2.0, 4.0)
    ([3.0, -1.5, 1.76159], [3.0, -3.0, 0.839949])

At r = 1 the gate is σ(0) = 1/2. The values are 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3, and both slopes
are 4 · 1/2 · 1/2 · A = A. At r = 2 the gate is σ(2) = 0.880797. The value is 4/2 · 0.880797 and the
slope is 4 · 0.880797 · 0.119203 · 2.

**The default values of τ.** The ratio is 1 in the first row and 2 in the second.

    >>> sapo_surrogate([[1.0, 1.0], [2.0, 2.0]], [[1.0, -1.0], [1.0, -1.0]])
    ([[2.0, -1.90476], [2.92423, -2.822]], [[1.0, -1.0], [1.5729, -1.53622]])

Second row, good token: σ(1) = 0.731059, so the value is 4 · 0.731059 and the slope is 4 · 0.731059
· 0.268941 · 2. For the bad token the gate is σ(1.05) = 0.740775, and the value is 4/1.05 · 0.740775
· -1.

**A tiny slope.**

    >>> sapo_surrogate(40.0, 1.0)
    (4.0, 1.84772e-15)

The gate is σ(39), which is 1 to 16 digits. The slope is 4 · 1 · 1.15482e-17 · 40.

## When it is solved

A larger τ makes a sharper gate. The factor 4/τ makes the slope at r = 1 equal to A for every τ. TRL
and verl compute only the value and leave the slope to automatic differentiation.

Next: `sequence_ratio` computes one ratio for a whole completion.

## See also

* Source: Gao et al. 2025, SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`; verl
  `compute_policy_loss_sapo`.
* `grpo_ref.surrogates.sapo` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes sapo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run soft_clipping --quick` tests a claim about it.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/sapo
"""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """SAPO's surrogate and its slope with respect to the log-ratio."""
    raise NotImplementedError("ratios/sapo")
