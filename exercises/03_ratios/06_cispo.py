"""A weight that is capped, and a gradient that never dies

Medium, 2 points. GRADING.md says how answers are graded.

PPO's clip takes the slope away from exactly those tokens that moved most, and these are often rare
tokens that matter, such as a `However` or a `Wait` where the text takes a turn. CISPO keeps every
token in training. It goes back to the plain policy gradient (REINFORCE), which raises log πθ, the
log-probability of a token, in proportion to its advantage A (how much better its completion was
than others). As the completions were written by an older policy, each token is weighted by its
ratio r = πθ/πold (how much likelier it has become); that weight is capped, so that no token can
dominate, and it is held constant, so that nothing but the logarithm is differentiated.

## Your task

Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`.

The surrogate of a token is

    s = sg[min(r, max_ratio)] A log πθ,    r = exp(log_ratio)

sg (stop-gradient) means that what stands in the brackets is treated as a constant when s is
differentiated. Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`, the derivative of s with
respect to log πθ, for each token:

    ∂s / ∂log πθ

| argument     | meaning                    | shape                             | values      |
| ------------ | -------------------------- | --------------------------------- | ----------- |
| `log_ratio`  | log πθ - log πold, in nats | number, (T,), (N, T) or (B, N, T) | −300 to 300 |
| `advantages` | A                          | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `max_ratio`  | the cap                    | number                            | 0.1 to 100  |

* `log_ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

An array of the same shape; a number for numbers.

* The cap is for good and bad tokens alike, and there is no lower bound.
* The cap may be less than 1; no input has to be refused.

## Examples

    >>> cispo_slope([0.0, 2.0, 2.0], [2.0, 3.0, -3.0])
    [2, 15, -15]

The first weight is exp(0) = 1. exp(2) = 7.39 is above the cap, so the weight is 5 for the good and
for the bad token: capped, but not 0.

## When it is solved

The trainers' caps differ: TRL's epsilon_high is the cap itself, Open Instruct's cap is 1 +
clip_higher, and verl also has a lower bound.

## See also

* Source: MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`.
* `grpo_ref.cispo` is the same function in this package. Look at it when you are done.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/cispo
"""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """The derivative of the surrogate with respect to log πθ, the weight held constant."""
    raise NotImplementedError("ratios/cispo")
