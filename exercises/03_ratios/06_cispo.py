"""CISPO's capped weight

Medium, 2 points. GRADING.md says how answers are graded.

PPO's clip sets the gradient of a token to 0 once its probability has changed enough. This often
happens to rare tokens that matter, such as `However` or `Wait`, where the text changes direction.
CISPO keeps the gradient of every token.

CISPO returns to the plain policy gradient (REINFORCE): raise log πθ, the log-probability of a
token, in proportion to its advantage A, which is positive for good tokens and negative for bad
ones. An older policy, πold, sampled the completions. Each token is therefore weighted by its ratio
r = πθ/πold. The weight is capped, so that no token dominates. The weight is also constant: only the
logarithm is differentiated.

## Your task

Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`.

The surrogate of a token, its part of the objective, is

    s = sg[min(r, max_ratio)] A log πθ,    r = exp(log_ratio)

`log_ratio` is log πθ - log πold and A is `advantages`. sg (stop-gradient) means that the expression
in the brackets is a constant when s is differentiated. Return the derivative, one value per token:

    ∂s / ∂log πθ

The cap applies to good and bad tokens alike. There is no lower bound.

| argument     | meaning                    | shape                             | values      |
| ------------ | -------------------------- | --------------------------------- | ----------- |
| `log_ratio`  | log πθ - log πold, in nats | number, (T,), (N, T) or (B, N, T) | −300 to 300 |
| `advantages` | A, advantage of each token | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `max_ratio`  | largest weight of a token  | number                            | 0.1 to 100  |

* `log_ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

Return an array of the same shape, or a number if the inputs are numbers.

## Examples

**A ratio of 1, and ratios above the cap.** The default cap is 5.

    >>> cispo_slope([0.0, 2.0, 2.0], [2.0, 3.0, -3.0])
    [2.0, 15.0, -15.0]

The first weight is exp(0) = 1, so the slope is A. exp(2) = 7.39 is above the cap, so the weight is
5 for the good and for the bad token. Their slopes are capped, but not 0.

**No lower bound.** The ratios are 0.5 and 1.1 in the first row, 2 and 20.1 in the second.

    >>> cispo_slope([[-0.6931472, 0.0953102], [0.6931472, 3.0]],
    ...             [[2.0, -1.0], [1.0, -1.0]], max_ratio=1.28)
    [[1.0, -1.1], [1.28, -1.28]]

First row: 0.5 · 2 and 1.1 · -1. In the second row both weights are capped at 1.28.

**A cap below 1.** The inputs are numbers. The ratio is 1, which is above the cap.

    >>> cispo_slope(0.0, 3.0, max_ratio=0.5)
    1.5

## When it is solved

The caps of trainers differ. In TRL, `epsilon_high` is the cap itself. In Open Instruct, the cap is
1 + `clip_higher`. verl also has a lower bound.

Next: `sapo` replaces the clip by a smooth function.

## See also

* Source: MiniMax 2025, MiniMax-M1, CISPO (arXiv:2506.13585); TRL `loss_type="cispo"`.
* `grpo_ref.surrogates.cispo` computes the same in this package. Look at it when you are done.
* Step 11 of the derivation, off policy, explains the formula.
* `grpo-ref recipes cispo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run rare_gradient --quick` tests a claim about it.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/cispo
"""

import numpy as np


def cispo_slope(log_ratio, advantages, max_ratio=5.0):
    """Derivative of CISPO's surrogate with respect to log πθ. The weight is a constant."""
    raise NotImplementedError("ratios/cispo")
