"""DAPO, from rewards to loss  (hard, 3 points)

## Background

DAPO changes GRPO in five places: good tokens may go further (clip-higher), groups without contrast
are left out (dynamic sampling), every token counts the same (token mean), there is no penalty, and
overlong answers are punished softly, which was `aggregation/soft_overlong`. The first four are
here.

## Problem

Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`:

    A = (r - mean(r)) / (std(r) + 1e-4)    in each group, std divides by G
    L = -Σ min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) / number of tokens

with ρ = exp(log πθ - log πold).

Both the sum and the number run over the tokens of the groups whose rewards differ, and over no
others.

## Input

- log_probs, old_log_probs: (P, G, T) of the sampled tokens, in nats; padding holds arbitrary
  numbers.
- rewards: (P, G).
- mask: (P, G, T) 1 on tokens, 0 on padding.
- clip_low, clip_high: how far the ratio may go down and up.

## Output

A number, to be minimized; 0 if no group is left.

## Examples

    dapo_loss(
        [[[-0.510826, -0.356675], [-0.693147, -1.20397]], [[-0.693147, -0.693147], [-0.693147, -0.693147]]],
        [[[-0.693147, -0.693147], [-0.693147, -0.693147]], [[-0.693147, -0.693147], [-0.693147, -0.693147]]],
        [[1, 0], [1, 1]],
        [[[1, 1], [1, 1]], [[1, 1], [1, 1]]],
    )
    -> -0.16996600679864027

ratios 1.2 and 1.4 (held at 1.28) with A = 1, ratios 1 and 0.6 (held at 0.8) with A = -1; four
tokens are left; A = 0.5 / 0.5001

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Yu et al. 2025, DAPO (arXiv:2503.14476); TRL `loss_type="dapo"`, which does not filter groups.

## See also

- notebooks/01_the_objective.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade objective/dapo_loss
"""

import numpy as np


def dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    """Clip-higher, groups without contrast left out, every token counting the same."""
    raise NotImplementedError("objective/dapo_loss")
