"""The clip fraction is zero, whatever you do

Medium, 2 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one
of them and is paid for it. The policy is a table with one row of numbers, the logits, for each
prompt; the softmax of a row gives the probability of each arm. The patient below uses each batch
for several steps, as trainers do because drawing is expensive. From the second step on the policy π
is no longer the policy πold that drew the batch. The ratio r = π / πold of the arm's probabilities
says how far it has gone, and the clip takes away the slope of an arm that has gone far enough. In
this patient it never does: one batch of 16, eight steps and learning_rate 8 bring an arm from 0.25
to 0.81, where a healthy run leaves all arms between 0.18 and 0.31, and the share of clipped arms
that it reports is exactly 0 in every step.

## Your task

Write `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)`.

Find the fault in `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)` below and mend
it: one line is wrong or in the wrong place, the rest is right. The program shall do the following.
The logits are zeros at first. In each of the U updates

1. πold is the softmax of each row of logits. Every member g of the group of prompt p draws an arm:
   the first one whose cumulative probability πold(0) + ... + πold(arm) is larger than its number in
   `uniforms`
2. its reward is `payoffs[update, p, g, arm]`, and its advantage A is this reward minus the mean
   reward of its group, the G members of the same prompt
3. `steps` times, the logits take one step uphill on

    J = 1/(P G) Σ min(r A, clip(r, 1 - clip, 1 + clip) A),    r = π(arm) / πold(arm)

with π the softmax of the logits of that moment; πold and A stay the same for all steps on a batch.
An arm has no slope where A > 0 and r > 1 + clip, and none where A < 0 and r < 1 - clip. Everywhere
else, on the bound itself too, the slope of its term with respect to log π(arm) is r A, and the
gradient of log π(arm) with respect to the logits of its prompt is the one-hot vector of the arm
minus π.

* `payoffs`: what arm v would pay to member g of prompt p in update u; (U, P, G, V); −5 to 5.
* `uniforms`: random numbers, one for each draw; (U, P, G); 0 to 0.999.
* `learning_rate`: length of a step; number; 0.01 to 4.
* `steps`: how often each batch is used; number; integer, 1 to 5.
* `clip`: how far the ratio may go from 1; number; 0 to 0.9.

* U, P and G are at least 1.
* V is at least 2.
* Where clip is 0, steps is 1: in later steps rounding would decide which side of the bound a ratio
  is on.

(P, V) the logits after U updates.

* In the first step on a batch r is exactly 1, so a batch moves the policy even where clip is 0.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)
    [[1, -1]]

Both arms are drawn once and pay 1 and 0, so A = 1/2 and -1/2. In the first step r = 1 and the
gradient is [1/4, -1/4]; times 4 that gives logits [1, -1]. Now π is 0.88 and 0.12, the ratios are
1.76 and 0.24: the good arm is above 1.2, the bad one below 0.8, and the second step adds nothing.

## When it is solved

A clip fraction of exactly 0 is right in one case: with one step per batch. TRL then leaves πold out
and takes the policy itself, detached. TRL logs it as clip_ratio/region_mean, verl as
actor/pg_clipfrac: see "The clip ratio is 0" in docs/howto/symptoms.md. `grpo-ref diagnose LOG
CONFIG` says whether it is right.

## See also

* Source: Schulman et al. 2017, PPO, eq. 7 (arXiv:1707.06347).
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

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
