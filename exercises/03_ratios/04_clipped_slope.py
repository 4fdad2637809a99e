"""Which way does the token push?

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what the policy (the language model) climbs, one value for each token. Clipping is
less about that value than about its slope, for the slope is what moves the policy. A token whose
surrogate no longer changes with its ratio has a slope of 0 and pushes no more. The slope is taken
with respect to the log-ratio, because that is what the chain rule needs next: it moves exactly as
log πθ, the log-probability that the model gives the token.

## Your task

Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`.

Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`: the derivative of the
clipped surrogate with respect to log_ratio, for each token. With r = exp(log_ratio), the surrogate
is

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

A is the token's advantage (how much better its completion was than others), and clip(r, a, b) holds
r between a and b. Where s is r A, its derivative is r A too, because the derivative of exp(x) is
exp(x). Where the clip holds the value, s is constant.

| argument     | meaning                       | shape                             | values      |
| ------------ | ----------------------------- | --------------------------------- | ----------- |
| `log_ratio`  | log πθ - log πold, in nats    | number, (T,), (N, T) or (B, N, T) | −300 to 300 |
| `advantages` | A                             | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `clip_low`   | how far the ratio may go down | number                            | 0 to 0.99   |
| `clip_high`  | how far it may go up          | number                            | 0 to 20     |

* `log_ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

∂s/∂log_ratio, an array of the same shape; a number for numbers.

* On the bound itself s has a kink. There a token still pushes: the slope is r A.
* clip_low is always less than 1; no input has to be refused.

## Examples

    >>> clipped_slope([1.0, 1.0, 0.0], [3.0, -3.0, 2.0])
    [0, -8.15485, 2]

The first two ratios are exp(1) = 2.71828, above 1.2. The good token is held there: 0. The bad one
is not: 2.71828 · -3. The third ratio is 1, and the slope is A.

## When it is solved

Trainers leave this to automatic differentiation of min and clip. On a kink PyTorch's clamp passes
the slope on, as here.

## See also

* Source: Schulman et al. 2017, eq. 7 (arXiv:1707.06347), differentiated.
* `grpo_ref.clipped` is the same function in this package. Look at it when you are done.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/clipped_slope
"""

import numpy as np


def clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    """The derivative of the clipped surrogate with respect to the log-ratio."""
    raise NotImplementedError("ratios/clipped_slope")
