"""The larger the group, the less it learns  (medium, 2 points)

## Background

The patient: a training loop without the slow loops. Somebody replaced them with indexing, and since
then a group of 64 moves the logits less than a group of 2.

## Problem

Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it. It shall do
gradient ascent on the mean of A log π over all prompts and members, with A the reward minus the
mean of its group.

## Input

- payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.
- uniforms: (U, P, G) numbers in [0, 1).
- learning_rate: a number.

## Output

(P, V) the logits after U updates.

## Examples

    train([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)
    -> [[0.666667, -0.666667]]

arms 0, 0 and 1 get 3, 3 and 0, A = 1, 1, -2; (1/2 + 1/2 + 1) / 3

## Constraints

- The fault is in one line; the rest is right.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

a classic of vectorised code.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/large_groups
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(payoffs, uniforms, learning_rate=2.0):
    """One softmax over the arms for each prompt, trained with the mean of the group for a baseline."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    rows = np.repeat(np.arange(prompts), group)
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[rows], uniforms[u].reshape(-1))
        rewards = payoffs[u].reshape(-1, arms)[np.arange(len(rows)), chosen].reshape(prompts, group)
        advantages = (rewards - rewards.mean(-1, keepdims=True)).reshape(-1, 1)
        step = advantages * (np.eye(arms)[chosen] - probs[rows]) / len(rows)
        gradient = np.zeros_like(logits)
        gradient[rows] += step
        logits = logits + learning_rate * gradient
    return logits
