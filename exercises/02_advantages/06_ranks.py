"""Ranks instead of rewards  (medium, 2 points)

## Background

A reward model for taste may order answers well while its numbers mean little. GOPO keeps the order
alone.

## Problem

Write `rank_advantages(rewards)`:

    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1),    rank 1 the best of its group, rank G the worst

## Input

- rewards: (P, G), one row per prompt.

## Output

(P, G) advantages between -2 and 2; each row sums to zero.

## Examples

    rank_advantages([[0.1, 30.0, 0.2]])
    -> [[-2, 2, 0]]

ranks 3, 1 and 2

    rank_advantages([[5, 1, 5, 0]])
    -> [[1.33333, -0.666667, 1.33333, -2]]

ranks 1.5, 3, 1.5 and 4; 2 - 4 · 0.5 / 3

## Constraints

- Equal rewards share the mean of their ranks.
- A group of one gets 0.

## Notes

How ties are ranked is not said in the paper's abstract; the mean rank keeps the sum at zero.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

GOPO (arXiv:2602.03876).

## See also

- notebooks/08_several_rewards.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade advantages/ranks
"""

import numpy as np


def rank_advantages(rewards):
    """Advantages from 2 for the best of a group down to -2 for the worst."""
    raise NotImplementedError("advantages/ranks")
