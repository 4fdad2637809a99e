"""The clip fraction is zero, whatever you do  (medium, 2 points)

## Background

The patient: a training loop that uses each batch for several steps, with a clip against going too
far. The clip never acts; the policy is thrown about, and the clip fraction that it reports is
exactly zero in every step.

## Problem

Find the fault in `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)` below and mend
it. In each update it shall draw a batch, then take `steps` steps uphill on

    mean of min(r A, clip(r, 1 - clip, 1 + clip) A),    r = π / πold

with πold the policy that drew the batch, and A the reward minus the mean of its group.

## Input

- payoffs: (U, P, G, V), what arm v would pay to member g of prompt p in update u.
- uniforms: (U, P, G) numbers in [0, 1).
- learning_rate, clip: numbers.
- steps: how often each batch is used.

## Output

(P, V) the logits after U updates.

## Examples

    train([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)
    -> [[1, -1]]

the first step is 4 · 1/4; π(0) is then 0.88 and π(1) 0.12, ratios 1.76 and 0.24, both beyond the
clip where A points

## Constraints

- The fault is in one line.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-08 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

reported again and again as "my clip fraction is always 0".

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/idle_clip
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    """Several steps a batch, the ratio to the policy that drew it clipped."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        chosen = draw(softmax(logits)[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        advantages = rewards - rewards.mean(-1, keepdims=True)
        for _ in range(steps):
            probs = softmax(logits)
            old = np.log(np.take_along_axis(softmax(logits), chosen, -1))
            ratio = np.exp(np.log(np.take_along_axis(probs, chosen, -1)) - old)
            too_high = (advantages > 0) & (ratio > 1 + clip)
            too_low = (advantages < 0) & (ratio < 1 - clip)
            slope = np.where(too_high | too_low, 0.0, ratio * advantages)
            one_hot = np.eye(arms)[chosen]
            gradient = (slope[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
            logits = logits + learning_rate * gradient
    return logits
