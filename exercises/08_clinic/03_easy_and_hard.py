"""Easy and hard prompts

Easy, 2 points. GRADING.md says how answers are graded.

A bandit offers V arms for each of P prompts. The policy is a table of logits with one row per
prompt; the softmax of a row gives the probability of each arm.

The run below has an easy prompt with rewards between 7.5 and 10.5 and a hard one with rewards 0 and
1. The first update makes every arm pulled on the easy prompt more likely and every arm pulled on
the hard one less likely. After 100 updates, the expected reward on the hard prompt is 0.34; a
healthy run reaches 0.49.

The picture is in 03_easy_and_hard.svg.

## Your task

Write `train(payoffs, uniforms, learning_rate=2.0)`.

One line of the given `train` is wrong. Fix it. The logits start at 0. Each update must do this:

1. π is the softmax of each row. Pull g of prompt p selects an arm: the first one whose cumulative
   probability π(0) + ... + π(arm) is larger than `uniforms[u, p, g]`.
2. The advantage A is the reward `payoffs[u, p, g, arm]` minus the mean reward of the G pulls of
   this prompt.
3. The logits take one step of gradient ascent on J, with A constant.

J is a mean over all pulls:

    logits += learning_rate · ∂J/∂logits,    J = 1/(P G) Σ A log π(arm)

The gradient of log π(arm) with respect to the row of its prompt is one-hot(arm) - π. one-hot(arm)
is 1 at the arm and 0 elsewhere.

| argument        | meaning                                | shape        | values     |
| --------------- | -------------------------------------- | ------------ | ---------- |
| `payoffs`       | reward of arm v for pull g of prompt p | (U, P, G, V) | −20 to 20  |
| `uniforms`      | random numbers, one for each pull      | (U, P, G)    | 0 to 0.999 |
| `learning_rate` | step size                              | number       | 0.01 to 5  |

* U, P and G are at least 1.
* V is at least 2.
* Rounding never decides which arm is selected.

Return the logits after all updates, an array of shape (P, V).

## Examples

**The second prompt has nothing to teach.** All its rewards are 9.

    >>> train([[[[3, 0], [3, 0], [3, 0]], [[9, 9], [9, 9], [9, 9]]]],
    ...       [[[0.25, 0.75, 0.75], [0.25, 0.25, 0.25]]], 1.0)
    [[0.333333, -0.333333], [0, 0]]

On the first prompt, arm 0 is pulled once with reward 3, and arm 1 twice with reward 0. The mean is
1, so A is 2, -1 and -1. The three pulls add 2 · [1/2, -1/2] and twice -1 · [-1/2, 1/2]. The sum is
[2, -2], divided by P G = 6. On the second prompt A is 0, and its row does not move.

**Two groups of one.** The learning rate is the default.

    >>> train([[[[5, 1]], [[2, 0]]]], [[[0.25], [0.25]]])
    [[0, 0], [0, 0]]

Each reward is the mean of its group, so A is 0.

**Corner cases.** In a group of one, and in a group with equal rewards, A is 0 up to rounding, and
an exact 0 is accepted too.

**A long run.** In one test, each of two prompts has four arms with rewards 0 or 1. After 150
updates of 16 pulls with learning_rate 4, the best arm of each prompt must have a probability above
0.9.

## When it is solved

With one prompt per batch, this mistake does not change the result. In a trainer it often comes from
a reshape: the mean of rewards of shape (P G,) is taken before they have the shape (P, G).

## See also

* Source: Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300), for the mean of the group
  as the baseline.
* Step 5 of the derivation, group, explains the formula.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/easy_and_hard
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


def train(payoffs, uniforms, learning_rate=2.0):
    """Train one row of logits per prompt; the baseline is the mean of the group."""
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
