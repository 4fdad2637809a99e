"""It walks away on its leash  (medium, 2 points)

## Background

The patient: a training loop with a penalty that shall keep the policy near its start. However large
kl_coef is chosen, the policy walks away, and the KL that it reports is 0 all the way.

## Problem

Find the fault in `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)` below and mend
it. It shall do gradient ascent on the mean over prompts and members of

    A log π - kl_coef (e⁻ᵛ - 1 + v),    v = log π - log πref

with πref the softmax of `start` all the time, and A the reward minus the mean of its group.

## Input

- start: (P, V) logits to begin with.
- payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.
- uniforms: (U, P, G) numbers in [0, 1).
- learning_rate, kl_coef: numbers.

## Output

(P, V) the logits after U updates.

## Examples

    train([[0.0, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0, 0.5)
    -> [[0.25, -0.25]]

at the start v = 0 and the penalty has no slope yet

## Constraints

- The fault is in one line.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-08 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

a trap of NumPy, and of PyTorch.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/walking_away
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    """Ascent on the reward, held near the start by the slope of k3."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    logits = np.array(start, dtype=float)
    reference = logits
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        advantages = rewards - rewards.mean(-1, keepdims=True)
        ours = np.take_along_axis(probs, chosen, -1)
        theirs = np.take_along_axis(softmax(reference), chosen, -1)
        slope = advantages - kl_coef * (1 - theirs / ours)
        one_hot = np.eye(arms)[chosen]
        gradient = (slope[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits += learning_rate * gradient
    return logits
