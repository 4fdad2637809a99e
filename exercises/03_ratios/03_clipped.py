"""Not further than that

Medium, 2 points. GRADING.md says how answers are graded.

A batch of completions is used for several steps, and with every step the policy (the language
model) moves away from the one that wrote them. The surrogate is what the policy climbs: for each
token, its ratio r = πθ/πold (how much likelier it has become) times its advantage A (how much
better its completion was than others). Climbing r A without a limit would push a good token ever
further on the evidence of one sample. PPO stops rewarding a token that has already been pushed far
enough; DAPO lets good tokens go further up than bad ones go down.

## Your task

Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`.

Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`, one value for each token:

    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)

clip(r, a, b) is r held between a and b: a where r < a, b where r > b. The smaller of the two
products counts. So the value is held only where the token has moved in the direction of its
advantage: above 1 + clip_high if A > 0, below 1 - clip_low if A < 0.

| argument     | meaning                       | shape                             | values      |
| ------------ | ----------------------------- | --------------------------------- | ----------- |
| `ratio`      | r = πθ/πold                   | number, (T,), (N, T) or (B, N, T) | 1e-8 to 1e4 |
| `advantages` | A                             | number, (T,), (N, T) or (B, N, T) | −1e4 to 1e4 |
| `clip_low`   | how far the ratio may go down | number                            | 0 to 0.99   |
| `clip_high`  | how far it may go up          | number                            | 0 to 20     |

* `ratio` and `advantages` have the same shape.
* B, N and T are at least 1.

An array of the same shape; a number for numbers.

* clip_low is always less than 1; no input has to be refused.

## Examples

    >>> clipped_surrogate([1.5, 1.5], [1.0, -2.0])
    [1.2, -3]

Good token: 1.5 is held at 1.2, and min(1.5 · 1, 1.2 · 1) = 1.2. Bad token: min(1.5 · -2, 1.2 · -2)
= min(-3, -2.4) = -3, so it is not held.

## When it is solved

TRL and verl take 0.2 for both; DAPO takes clip_high = 0.28, which is called clip-higher. The loss
of a trainer is the surrogate with a minus sign.

## See also

* Source: Schulman et al. 2017, eq. 7 (arXiv:1707.06347); DAPO, eq. 10 (arXiv:2503.14476).
* `grpo_ref.clipped` is the same function in this package. Look at it when you are done.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/clipped
"""

import numpy as np


def clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2):
    """PPO's pessimistic surrogate, one value a token."""
    raise NotImplementedError("ratios/clipped")
