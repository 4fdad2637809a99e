"""The reward falls from the first update on  (easy, 2 points)

## Background

The patient: a training loop for a table of bandits, one row of logits per prompt. Its reward curve
starts in the middle and falls to the worst arm's payoff, as smoothly as others rise.

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

    train([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0)
    -> [[0.25, -0.25]]

arms 0 and 1 are drawn, A = ±1/2; the mean of A (one-hot - 1/2) is 1/2 (1/2 · 1/2 + 1/2 · 1/2)

## Constraints

- The fault is in one line; the rest is right.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

the most frequent of all, and quickly found.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/falling_reward
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
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        advantages = rewards - rewards.mean(-1, keepdims=True)
        gradient = np.zeros_like(logits)
        for p in range(prompts):
            for g in range(group):
                one_hot = np.eye(arms)[chosen[p, g]]
                gradient[p] += advantages[p, g] * (one_hot - probs[p]) / (prompts * group)
        logits = logits - learning_rate * gradient
    return logits
