"""A clip fraction of zero

Medium, 2 points. GRADING.md says how answers are graded.

A bandit offers V arms for each of P prompts. The policy is a table of logits, one row per prompt.
The program below takes several steps on each batch, so π moves away from πold, which sampled the
batch.

The clip should limit this, but the fraction of clipped pulls is exactly 0. On average, five steps
on a batch raise the most likely of four arms from 0.25 to 0.63, instead of 0.34.

The picture is in 05_idle_clip.svg.

## Your task

Write `train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2)`.

One line of the given `train` is wrong or misplaced. Fix it. The logits start at 0. Each update must
do this:

1. πold is the softmax of each row. Pull g selects the first arm whose cumulative probability
   πold(0) + ... + πold(arm) is larger than `uniforms[u, p, g]`.
2. A is the reward `payoffs[u, p, g, arm]` minus the mean reward of this prompt's G pulls.
3. `steps` times, with πold and A constant: logits += learning_rate · ∂J/∂logits.

The objective is

    J = 1/(P G) Σ min(r A, clip(r, 1 - clip, 1 + clip) A),    r = π(arm) / πold(arm)

π is the softmax of the current logits. A pull has slope 0 if A > 0 and r > 1 + clip, or A < 0 and r
< 1 - clip. Otherwise, also on the bounds, its slope with respect to log π(arm) is r A. The gradient
of log π(arm) in its row is one-hot(arm) - π.

| argument        | meaning                                | shape        | values          |
| --------------- | -------------------------------------- | ------------ | --------------- |
| `payoffs`       | reward of arm v for pull g of prompt p | (U, P, G, V) | −5 to 5         |
| `uniforms`      | random numbers, one for each pull      | (U, P, G)    | 0 to 0.999      |
| `learning_rate` | step size                              | number       | 0.01 to 4       |
| `steps`         | number of steps on each batch          | number       | integer, 1 to 5 |
| `clip`          | half-width of the allowed range of r   | number       | 0 to 0.9        |

* U, P and G are at least 1.
* V is at least 2.
* If `clip` is 0, `steps` is 1.
* Rounding never decides which arm is selected or which pull is clipped.

Return the final logits (P, V).

The tolerance of this exercise is 1e-8.

## Examples

**Two steps.** Both arms are pulled once, with rewards 1 and 0.

    >>> train([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 4.0, 2, 0.2)
    [[1, -1]]

A is 1/2 and -1/2. In the first step r = 1, and the gradient is [1/4, -1/4]. Times 4, this gives the
logits [1, -1]. Now π is 0.88 and 0.12, so the ratios are 1.76 and 0.24. Both arms are beyond their
bound, and the second step adds nothing.

**Two updates of three steps.** Each batch is as above, and the steps are shorter.

    >>> train([[[[1, 0], [1, 0]]], [[[1, 0], [1, 0]]]], [[[0.25, 0.75]], [[0.25, 0.75]]], 0.5, 3)
    [[0.528958, -0.528958]]

| | r of arm 0 | r of arm 1 | clipped |
|---|---|---|---|
| first update, step 1 | 1 | 1 | none |
| step 2 | 1.124 | 0.876 | none |
| step 3 | 1.243 | 0.757 | both |
| second update, step 1 | 1 | 1 | none |
| step 2 | 1.091 | 0.850 | none |
| step 3 | 1.169 | 0.722 | arm 1 |

The logits are ±0.248067 after the first update.

**Corner cases.** In a group with equal rewards, A is 0 up to rounding, and an exact 0 is accepted
too. In the first step on a batch r is exactly 1, so a batch moves the policy even if `clip` is 0.

## When it is solved

A clip fraction of exactly 0 is right with one step per batch. TRL then does not store πold and uses
the current policy without a gradient. TRL logs the fraction as `clip_ratio/region_mean`, verl as
`actor/pg_clipfrac`; see "The clip ratio is 0" in `docs/howto/symptoms.md`.

## See also

* Source: Schulman et al. 2017, PPO, eq. 7 (arXiv:1707.06347).
* Step 4 of the derivation, clip, explains the formula.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/idle_clip
"""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """Sample one token for each uniform number. probs has one axis more than uniforms."""
    # The last column is omitted: its sum is 1, which is larger than every number.
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    """Train with several steps per batch and a clipped ratio."""
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
