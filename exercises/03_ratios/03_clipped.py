"""The clipped surrogate

Medium, 2 points. GRADING.md says how answers are graded.

A batch of completions is expensive, so PPO and GRPO take several steps on it. With every step the
policy moves away from the policy that sampled the batch. For each token, the ratio r = πθ/πold
measures how far: 1.5 means that the token is now one and a half times as likely. The advantage A is
positive for a token of a good completion and negative for a token of a bad one.

The simplest objective, r A, rewards a good token for growing without limit, on the evidence of one
sample. PPO stops the reward once the token has moved far enough in the direction of its advantage.

## Your task

Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`.

Return one value per token:

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

r is `ratio` and A is `advantages`. clip(r, a, b) is a where r < a, b where r > b, and r in between.
The value s is called the *surrogate* of the token; training maximizes its mean.

| argument     | meaning                      | shape                             | values      |
| ------------ | ---------------------------- | --------------------------------- | ----------- |
| `ratio`      | r = πθ/πold of each token    | number, (T,), (N, T) or (B, N, T) | 1e-8 to 1e4 |
| `advantages` | A, advantage of each token   | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `clip_low`   | lower bound is 1 - clip_low  | number                            | 0 to 0.99   |
| `clip_high`  | upper bound is 1 + clip_high | number                            | 0 to 20     |

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

Return an array of the same shape, or a number if the inputs are numbers.

## Examples

**The upper bound clips good tokens.** Both tokens have become 1.5 times as likely.

    >>> clipped_surrogate([1.5, 1.5], [1.0, -2.0])
    [1.2, -3.0]

Good token: min(1.5 · 1, 1.2 · 1) = 1.2, so the value is clipped. Bad token: min(1.5 · -2, 1.2 · -2)
= min(-3, -2.4) = -3, so the value is not clipped. The bad token moved in the wrong direction and
has to come back.

**The lower bound clips bad tokens.** Both tokens are half as likely as before.

    >>> clipped_surrogate([0.5, 0.5], [1.0, -1.0])
    [0.5, -0.8]

Good token: min(0.5, 0.8) = 0.5, not clipped. Bad token: min(-0.5, -0.8) = -0.8, clipped.

**The two bounds are independent.** They are 1 - 0.3 = 0.7 and 1 + 0.28 = 1.28 here.

    >>> clipped_surrogate([[1.5, 1.1], [0.5, 0.9]], [[1.0, 1.0], [-1.0, -1.0]],
    ...                   clip_low=0.3, clip_high=0.28)
    [[1.28, 1.1], [-0.7, -0.9]]

The first token of each row is clipped. The second one is within the bounds, so its value is r A.

## When it is solved

PPO, TRL and verl use 0.2 for both bounds. DAPO uses `clip_high=0.28` and calls it *clip-higher*. A
trainer's loss is minus the mean of these values.

Next: `clipped_slope` shows where the gradient stops.

## See also

* Source: Schulman et al. 2017, eq. 7 (arXiv:1707.06347); Yu et al. 2025, DAPO, eq. 8 and 10
  (arXiv:2503.14476).
* `grpo_ref.surrogates.clipped` computes the same in this package. Look at it when you are done.
* Step 4 of the derivation, clip, explains the formula.
* `grpo-ref recipes dapo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run clip_higher --quick` tests a claim about it.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/clipped
"""

import numpy as np


def clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2):
    """PPO's clipped surrogate, one value per token."""
    raise NotImplementedError("ratios/clipped")
