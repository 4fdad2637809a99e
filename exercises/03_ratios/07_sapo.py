"""A soft gate instead of a cliff

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what the policy (the language model) climbs, one value for each token; its slope
says how hard a token pushes. PPO's clip is a cliff: a token pushes with full force as long as its
ratio r = πθ/πold (how much likelier it has become) is within the bounds, and not at all beyond.
SAPO puts a soft gate there: the push is full at r = 1 and fades with the distance from 1. The gate
has a sharpness τ (a temperature) for good tokens, those with a positive advantage A (their
completion was better than others), and another one for bad tokens.

## Your task

Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`.

Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`, which returns two
arrays: the surrogate s of each token, and its slope with respect to log r.

    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + exp(-x))
    slope = ∂s / ∂log r

τ is tau_positive where A > 0, and tau_negative elsewhere. Derive the slope by the chain rule, from

    dσ/dx = σ(x) (1 - σ(x))    and    dr / d log r = r

Both must be exact to the tolerance even where they are tiny. At r = 40, A = 1 and τ = 1 the slope
is 1.8e-15 and not 0, though σ(39) is so close to 1 that 1 - σ(39) is computed as 0. In exact
numbers it equals σ(-39), and that keeps its digits.

* `ratio`: r = πθ/πold; number, (T,), (N, T) or (B, N, T); 0.01 to 50.
* `advantages`: A; number, (T,), (N, T) or (B, N, T); −1e4 to 1e4.
* `tau_positive`: sharpness of the gate for good tokens; number; 0.1 to 10.
* `tau_negative`: for all others; number; 0.1 to 10.

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

A tuple (value, slope) of two arrays of the same shape, or of two numbers for numbers.

* Both temperatures are positive; no input has to be refused.

## Examples

    >>> sapo_surrogate([1.0, 1.0, 2.0], [3.0, -3.0, 1.0], 2.0, 4.0)
    ([3, -1.5, 1.76159], [3, -3, 0.839949])

At r = 1 the gate is σ(0) = 1/2: values 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3, slopes 4 · 1/2 · 1/2 · A.
At r = 2 it is σ(2) = 0.880797: value 4/2 · 0.880797, slope 4 · 0.880797 · 0.119203 · 2.

## When it is solved

A larger τ is a sharper gate. The factor 4/τ makes the slope at r = 1 equal to A, whatever τ is. TRL
and verl compute the value only and leave the slope to automatic differentiation.

## See also

* Source: SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.
* `grpo_ref.sapo` is the same function in this package. Look at it when you are done.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/sapo
"""

import numpy as np


def sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    """Value and slope of the softly gated surrogate."""
    raise NotImplementedError("ratios/sapo")
