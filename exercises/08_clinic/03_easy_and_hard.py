"""On easy prompts everything is right, on hard ones everything is wrong  (easy, 2 points)

## Background

The patient: a training loop of bandits like that of `clinic/falling_reward`, on prompts of very
different difficulty. On an easy prompt whatever was drawn becomes likelier, on a hard one whatever
was drawn becomes rarer, right or wrong.

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

    train([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.75], [0.25, 0.25]]], 1.0)
    -> [[0.125, -0.125], [0, 0]]

the first prompt has A = ±1/2, and weight 1/4 per member; the second pays 9 whatever is drawn and
has nothing to learn

## Constraints

- The fault is in one line; the rest is right.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-09 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

found in more than one public GRPO repository.

## See also

- notebooks/09_the_clinic.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade clinic/easy_and_hard
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
        advantages = rewards - rewards.mean()
        one_hot = np.eye(arms)[chosen]
        gradient = (advantages[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits = logits + learning_rate * gradient
    return logits
