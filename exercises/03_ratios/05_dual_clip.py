"""The dual clip

Medium, 2 points. GRADING.md says how answers are graded.

The surrogate is what a token adds to the objective. Without a clip, it is r A. The ratio r =
πθ/πold is the token's probability now, divided by its probability when it was sampled. The
advantage A is positive for good tokens and negative for bad ones.

PPO's clip limits a good token that has become more likely and a bad token that has become less
likely. It does not limit a bad token that has become *more* likely. At a ratio of 10, such a token
counts ten times, and a single one can dominate a whole batch. The *dual clip* adds a lower limit to
its value.

## Your task

Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`.

Compute PPO's clipped surrogate first:

    s = min(r A, clip(r, 1 - clip, 1 + clip) A)

r is `ratio`, A is `advantages`, and clip(r, a, b) is a where r < a, b where r > b, and r in
between. Then return one value per token:

    max(s, max_ratio A)  where A < 0,    s elsewhere

For a bad token, both numbers in the maximum are negative. Its value is therefore never below
`max_ratio` A. `max_ratio` may be less than 1 + `clip`; the formula stays the same.

| argument     | meaning                        | shape                             | values      |
| ------------ | ------------------------------ | --------------------------------- | ----------- |
| `ratio`      | r = πθ/πold of each token      | number, (T,), (N, T) or (B, N, T) | 1e-8 to 1e4 |
| `advantages` | A, advantage of each token     | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `clip`       | half-width of PPO's clip range | number                            | 0 to 0.99   |
| `max_ratio`  | the limit is max_ratio A       | number                            | 1.01 to 50  |

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

Return an array of the same shape, or a number if the inputs are numbers.

## Examples

**The limit is for bad tokens only.** Both tokens have become five times as likely.

    >>> dual_clipped([5.0, 5.0], [-2.0, 1.0])
    [-6.0, 1.2]

Bad token: s = min(5 · -2, 1.2 · -2) = -10. The limit is 3 · -2 = -6, and max(-10, -6) = -6. Good
token: s = min(5, 1.2) = 1.2, without a limit.

**Below the limit, PPO's clip is unchanged.**

    >>> dual_clipped([0.5, 2.0], [-1.0, -1.0])
    [-0.8, -2.0]

First token: s = min(-0.5, -0.8) = -0.8. Second token: s = min(-2, -1.2) = -2. The limit of both is
-3, so it does not act.

**A limit within the clip range.** PPO's bounds are 0.5 and 1.5, and `max_ratio` is 1.25.

    >>> dual_clipped([[2.0, 2.0], [1.1, 0.4]], [[-1.0, 1.0], [-1.0, -1.0]],
    ...              clip=0.5, max_ratio=1.25)
    [[-1.25, 1.5], [-1.1, -0.5]]

First row: max(min(-2, -1.5), -1.25) = -1.25 for the bad token, and min(2, 1.5) = 1.5 for the good
one. Second row: max(-1.1, -1.25) = -1.1 and max(min(-0.4, -0.5), -1.25) = -0.5.

## When it is solved

verl always applies the dual clip, with `clip_ratio_c=3`. TRL limits the ratio only if `delta` is
set, and it caps r *before* it takes the minimum.

Next: `cispo` caps the ratio of every token and keeps every gradient.

## See also

* Source: Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.
* `grpo_ref.surrogates.dual_clipped` computes the same in this package. Look at it when you are
  done.
* Does it help? `grpo-ref experiment run two_sided_clip --quick` tests a claim about it.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/dual_clip
"""

import numpy as np


def dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0):
    """PPO's clipped surrogate with a lower limit where the advantage is negative."""
    raise NotImplementedError("ratios/dual_clip")
