"""Four scenarios, and which of them still learn

Medium, 2 points. GRADING.md says how answers are graded.

Take one token of a completion, an answer that the policy (the language model) wrote. Its ratio r =
πθ/πold says how much likelier the policy would write it now than when it was sampled; its advantage
A says whether its completion was better (A > 0) or worse (A < 0) than the other answers to the same
prompt. So there are four scenarios. Without a clip a token pushes the policy in all of them,
however far it has already been pushed. PPO's clip stops those that have moved far enough in the
direction of their advantage, and never those that have moved the other way and have to come back.

## Your task

Write `scenarios(ratio, advantages, clip=0.2)`.

Write `scenarios(ratio, advantages, clip=0.2)`, which returns two arrays. The first one holds the
number of each token's scenario:

    1: r > 1 and A > 0      2: r > 1 and A < 0
    3: r < 1 and A > 0      4: r < 1 and A < 0      0: r = 1 or A = 0

The second one holds a truth value: does the token still learn? It does if PPO's surrogate

    min(r A, clip(r, 1 - ε, 1 + ε) A)

still changes with r. Here ε is the argument `clip`, and clip(r, a, b) holds r between a and b. A
token with A > 0 stops as soon as r is greater than 1 + ε, one with A < 0 as soon as r is less than
1 - ε.

| argument     | meaning     | shape                  | values      |
| ------------ | ----------- | ---------------------- | ----------- |
| `ratio`      | r = πθ/πold | number, (T,) or (N, T) | 1e-4 to 1e4 |
| `advantages` | A           | number, (T,) or (N, T) | −1e4 to 1e4 |
| `clip`       | ε           | number                 | 0 to 0.99   |

* `ratio` and `advantages` have the same shape.
* N and T are at least 1.

A tuple (scenario, learns): whole numbers, and truth values (dtype bool), both of the shape of
ratio.

* On the bound itself, r = 1 + ε or r = 1 - ε, a token still learns.
* A token with A = 0 does not learn: zero times any ratio has no slope.
* All comparisons are exact: 1.0000001 is greater than 1, and an advantage of 0.0000001 is not 0.

## Examples

    >>> scenarios([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7])
    ([1, 2, 3, 4], [ True, True, True, True])

The band goes from 0.8 to 1.2; inside it nothing is clipped.

    >>> scenarios([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7])
    ([1, 2, 3, 4], [False, True, True, False])

The first token is good and already much likelier, the last one bad and already much rarer: they
stop. The other two moved the wrong way and have to come back.

## When it is solved

The share of tokens that are stopped, in scenarios 1 and 4, is what trainers log as the clip
fraction.

## See also

* Source: The table of scenarios in "A technical explanation of the GRPO loss function" (a blog post
  of February 2025), for the unclipped objective; Schulman et al. 2017, eq. 7 (arXiv:1707.06347),
  for the clip.
* The notebook 04_gallery_of_surrogates.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade ratios/scenarios
"""

import numpy as np


def scenarios(ratio, advantages, clip=0.2):
    """The scenario of each token, and whether it still learns."""
    raise NotImplementedError("ratios/scenarios")
