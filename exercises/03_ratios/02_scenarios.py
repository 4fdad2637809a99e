"""The four scenarios of a token

Medium, 2 points. GRADING.md says how answers are graded.

The ratio r = πθ/πold of a token is its probability now, divided by its probability when it was
sampled. Its advantage A is positive for good tokens, whose completion was better than the others,
and negative for bad tokens. The signs of r - 1 and A give four scenarios.

Without a clip, a token changes the policy in all four. PPO's clip stops a token that has moved far
enough in the direction of its advantage, but never a token that has moved in the wrong direction.

## Your task

Write `scenarios(ratio, advantages, clip=0.2)`.

Return a tuple of two arrays. The first contains each token's scenario, an integer:

    1: r > 1 and A > 0      2: r > 1 and A < 0
    3: r < 1 and A > 0      4: r < 1 and A < 0      0: r = 1 or A = 0

The second is True where the token still *learns*, because PPO's surrogate

    min(r A, clip(r, 1 - ε, 1 + ε) A)

still changes with r. clip(r, a, b) is r limited to the range from a to b.

A token with A > 0 stops learning if r > 1 + ε, a token with A < 0 if r < 1 - ε. On the bound
itself, the token still learns. A token with A = 0 does not learn.

| argument     | meaning                          | shape                  | values      |
| ------------ | -------------------------------- | ---------------------- | ----------- |
| `ratio`      | r = πθ/πold, ratio of each token | number, (T,) or (N, T) | 1e-4 to 1e4 |
| `advantages` | A, advantage of each token       | number, (T,) or (N, T) | −1e4 to 1e4 |
| `clip`       | ε, half-width of the clip range  | number                 | 0 to 0.99   |

* `ratio` and `advantages` have the same shape.
* N and T are at least 1.
* A ratio is exactly on a bound only if ε is 0, 0.2 or 0.5.

If the inputs are numbers, return an integer and a boolean. Compare exactly: 1.0000001 is greater
than 1.

## Examples

**Within the bounds, every token learns.** With the default ε, the bounds are 0.8 and 1.2.

    >>> scenarios([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7])
    ([1, 2, 3, 4], [True, True, True, True])

**Outside the bounds, two of the four stop.**

    >>> scenarios([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7])
    ([1, 2, 3, 4], [False, True, True, False])

The first token is good and already much more likely. The last token is bad and already much less
likely. The other two moved in the wrong direction.

**Scenario 0 can learn.**

    >>> scenarios([1.0, 1.0, 1.1], [0.7, -0.7, 0.0])
    ([0, 0, 0], [True, True, False])

The ratio of the first two tokens is 1, which is within the bounds, and their advantage is not 0.
The third token has no advantage.

**On a bound and beyond it.** With ε = 0.5, the bounds are 0.5 and 1.5.

    >>> scenarios([[1.5, 1.6], [0.5, 0.4]], [[1.0, 1.0], [-1.0, -1.0]], clip=0.5)
    ([[1, 1], [4, 4]], [[True, False], [True, False]])

## When it is solved

A token that is stopped, in scenario 1 or 4, is called *clipped*. Trainers log the share of clipped
tokens as the clip fraction: TRL as `clip_ratio/region_mean`, verl as `actor/pg_clipfrac`.

Next: `clipped` computes the value of the surrogate.

## See also

* Source: The four scenarios without a clip: "A technical explanation of the GRPO loss function" (a
  blog post of February 2025); the clip: Schulman et al. 2017, eq. 7 (arXiv:1707.06347).
* Step 4 of the derivation, clip, explains the formula.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/scenarios
"""

import numpy as np


def scenarios(ratio, advantages, clip=0.2):
    """Scenario of each token, and True for each token that still learns."""
    raise NotImplementedError("ratios/scenarios")
