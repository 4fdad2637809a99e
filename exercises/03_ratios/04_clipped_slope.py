"""The slope of the clipped surrogate

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what a token adds to the objective. Training follows its slope, so the slope
matters more than the value. A token whose surrogate no longer changes with its ratio has slope 0
and no longer moves the policy.

The slope is taken with respect to the log-ratio, log πθ - log πold. πθ is the token's probability
under the current policy, and πold under the policy that sampled it. Since πold is constant, a slope
with respect to the log-ratio is also a slope with respect to log πθ, the number that the model
computes.

## Your task

Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`.

Return the derivative ∂s/∂log_ratio of the clipped surrogate, one value per token:

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A),    r = exp(log_ratio)

A is `advantages`: positive for good tokens, negative for bad ones. clip(r, a, b) is a where r < a,
b where r > b, and r in between. Where s = r A, the derivative is r A too, because the derivative of
exp(x) is exp(x).

On a bound, s has a kink: the slopes on its two sides differ. Return r A there. In the tests, a
ratio is on a bound only if `log_ratio` is 0 and `clip_low` or `clip_high` is 0.

| argument     | meaning                      | shape                             | values      |
| ------------ | ---------------------------- | --------------------------------- | ----------- |
| `log_ratio`  | log πθ - log πold, in nats   | number, (T,), (N, T) or (B, N, T) | −300 to 300 |
| `advantages` | A, advantage of each token   | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `clip_low`   | lower bound is 1 - clip_low  | number                            | 0 to 0.99   |
| `clip_high`  | upper bound is 1 + clip_high | number                            | 0 to 20     |

* `log_ratio` and `advantages` have the same shape.
* B, N and T are at least 1.
* A ratio that is not exactly on a bound differs from it by at least 1e-12.

Return an array of the same shape, or a number if the inputs are numbers.

## Examples

**Ratios far above 1, and a ratio of 1.**

    >>> clipped_slope([1.0, 1.0, 0.0], [3.0, -3.0, 2.0])
    [0.0, -8.15485, 2.0]

The first two ratios are exp(1) = 2.71828, above the bound 1.2. The good token is clipped, so its
slope is 0. The bad token is not clipped: 2.71828 · -3. The third ratio is 1, so the slope is A.

**Ratios below the lower bound.** Both log-ratios are log 0.5, so both ratios are 0.5.

    >>> clipped_slope([-0.6931472, -0.6931472], [1.0, -1.0])
    [0.5, 0.0]

Good token: s = min(0.5, 0.8) = r A. Bad token: s = min(-0.5, -0.8) = -0.8, which is constant.

**The bounds apply to the ratio, not to its logarithm.** There are two rows.

    >>> clipped_slope([[0.19, 0.26], [-0.21, -0.26]], [[1.0, 1.0], [-1.0, -1.0]])
    [[0.0, 0.0], [-0.810584, 0.0]]

The ratios are 1.209 and 1.297 in the first row, both above 1.2. In the second row they are 0.811,
above 0.8, and 0.771, below 0.8.

**On the bound.** Both clips are 0, so both bounds are 1.

    >>> clipped_slope([0.0, 0.0], [1.0, -1.0], clip_low=0.0, clip_high=0.0)
    [1.0, -1.0]

## When it is solved

Trainers leave the slope to automatic differentiation of `min` and `clamp`. On a bound, PyTorch's
`clamp` passes the gradient on, so its result is r A too.

Next: `dual_clip` limits the bad tokens whose ratio has grown.

## See also

* Source: Schulman et al. 2017, eq. 7 (arXiv:1707.06347), differentiated.
* `grpo_ref.surrogates.clipped` computes the same in this package. Look at it when you are done.
* Step 4 of the derivation, clip, explains the formula.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/clipped_slope
"""

import numpy as np


def clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
    """Derivative of the clipped surrogate with respect to the log-ratio."""
    raise NotImplementedError("ratios/clipped_slope")
