"""Train a bandit  (medium, 3 points)

## Background

A bandit is the smallest world with a group: every completion is one pull of an arm. All you need is
from earlier exercises: a softmax, sampling, group advantages, the softmax's gradient.

## Problem

Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`. Start from logits 0; in each update

1. π = softmax(logits); draw one arm for each of the G uniform numbers u: the first one whose
cumulative probability is larger than u
2. r = what the arm pays to this member in this update
3. A = (r - mean(r)) / (std(r) + 1e-4), the std with divisor G
4. logits += learning_rate · 1/G Σ A (one-hot of the arm - π)

## Input

- payoffs: (U, G, V), what arm v would pay to member g in update u.
- uniforms: (U, G) numbers in [0, 1).
- learning_rate: a number.

## Output

(V,) the logits after U updates.

## Examples

    train_bandit([[[1, 0], [1, 0]]], [[0.25, 0.75]], 1.0)
    -> [0.4999, -0.4999]

arms 0 and 1 pay 1 and 0, A = ±0.5/0.5001; the mean of A (one-hot - 1/2) is ±1/2 of that

## Constraints

- After 150 updates of 16 pulls with the default learning rate, the best of five arms that pay 1
  with probabilities 0.8, 0.4, 0.3, 0.2, 0.1 must have a probability above 0.9.

## Notes

The advantages of a group add up to zero, so the -π adds nothing to this step: whoever leaves it out
gets away with it here, and not where a clip or a filter takes some of them out.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), with one token per completion.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/train_bandit
"""

import numpy as np


def train_bandit(payoffs, uniforms, learning_rate=2.0):
    """The logits of a softmax over the arms after one update a row of payoffs."""
    raise NotImplementedError("training/train_bandit")
