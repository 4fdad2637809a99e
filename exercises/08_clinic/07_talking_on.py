"""It goes on talking after the end  (medium, 2 points)

## Background

The patient: a training loop for completions that may end early. Token 0 ends a completion; what is
drawn after it is padding. The logits of positions that no completion ever reached have moved all
the same.

## Problem

Find the fault in `train(uniforms, vocabulary, learning_rate=8.0)` below and mend it. The policy has
one row of logits per position. A completion is right, and gets reward 1, if it ends as its third
token; else it gets 0. The loop shall do gradient ascent on

    Σ m A log π / Σ m,    A the reward minus the mean of the batch

over the G completions of a batch, with m = 1 up to and including the end, and 0 on padding.

## Input

- uniforms: (U, G, T) numbers in [0, 1).
- vocabulary: V.
- learning_rate: a number.

## Output

(T, V) the logits after U updates, from zeros.

## Examples

    train([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0)
    -> [[-0.125, 0.125], [-0.0625, 0.0625], [0.0625, -0.0625], [0, 0]]

completions 1 1 0 and 0: rewards 1 and 0, A = ±1/2, four tokens of weight 1/4; the fourth position
is padding in both

## Constraints

- The fault is in one line; the rest is right.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-08 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

TRL #6654 is a fault of this kind in a released trainer.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/talking_on
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(uniforms, vocabulary, learning_rate=8.0):
    """One row of logits a position; a completion is right if it ends as its third token."""
    uniforms = np.asarray(uniforms, dtype=float)
    _, group, length = uniforms.shape
    logits = np.zeros((length, vocabulary))
    positions = np.tile(np.arange(length), (group, 1))
    for numbers in uniforms:
        probs = softmax(logits)
        tokens = draw(probs[positions], numbers)
        is_end = tokens == 0
        mask = (np.cumsum(is_end, -1) - is_end == 0).astype(float)
        rewards = ((mask.sum(-1) == 3) & (mask * is_end).any(-1)).astype(float)
        advantages = (rewards - rewards.mean())[:, None]
        weights = 1 / mask.size
        slope = weights * advantages
        gradient = np.zeros_like(logits)
        np.add.at(gradient, positions, slope[..., None] * (np.eye(vocabulary)[tokens] - probs[positions]))
        logits = logits + learning_rate * gradient
    return logits
