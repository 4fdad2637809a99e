"""One step uphill  (medium, 3 points)

## Background

Softmax, advantage, token mean, chain rule, scatter-add: all that a training step on fresh data
needs is there.

## Problem

Write `update(logits, states, tokens, advantages, mask, learning_rate)`: one step of gradient ascent
on

    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])

over the tokens of N completions. The result is logits + learning_rate · ∂J/∂logits.

## Input

- logits: (S, V), one row per state.
- states, tokens: (N, T) whole numbers; padding holds arbitrary valid ones.
- advantages: (N,) one per completion.
- mask: (N, T) 1 on tokens, 0 on padding; at least one is 1.
- learning_rate: a number.

## Output

(S, V), the new logits.

## Examples

    update([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0)
    -> [[0.5, -0.5]]

one-hot minus one half

## Constraints

- A state that is visited several times collects all its visits.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Williams 1992, REINFORCE; the weights of DAPO's token mean.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/update
"""

import numpy as np


def update(logits, states, tokens, advantages, mask, learning_rate):
    """One step of gradient ascent on the weighted log-probabilities of the tokens."""
    raise NotImplementedError("training/update")
