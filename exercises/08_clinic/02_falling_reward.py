"""A falling reward

Easy, 2 points. GRADING.md says how answers are graded.

A bandit offers V arms for each of P prompts. The policy is a table of logits with one row per
prompt; the softmax of a row gives the probability of each arm.

The run below has two prompts with four arms each. The expected reward is 0.44 at the start. It
falls to 0.35 after 20 updates and to 0.26 after 100, which is nearly the reward of the worst arms.

The picture is in 02_falling_reward.svg.

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

**One update by hand.** Both arms have probability 1/2. Three pulls select arm 0 with reward 1, and
one pull selects arm 1 with reward 0.

    >>> train([[[[1, 0], [1, 0], [1, 0], [1, 0]]]], [[[0.25, 0.25, 0.25, 0.75]]], 1.0)
    [[0.1875, -0.1875]]

The mean reward is 3/4, so A is 1/4 for arm 0 and -3/4 for arm 1. The first three pulls add 1/4 ·
[1/2, -1/2] each, and the last one adds -3/4 · [-1/2, 1/2]. The sum is [3/4, -3/4], divided by P G =
4.

**Two updates.** The learning rate is 2 log 3.

    >>> train([[[[1, 0], [1, 0]]], [[[0, 3], [0, 3]]]], [[[0.25, 0.75]], [[0.6, 0.8]]], 2.1972246)
    [[-1.09861, 1.09861]]

In the first update A is 1/2 and -1/2. The step is log 3 · [1/2, -1/2], so π becomes 3/4 and 1/4. In
the second update, 0.6 selects arm 0 with reward 0, and 0.8 selects arm 1 with reward 3. So A is
-3/2 and 3/2, and the gradient is (-3/2 · [1/4, -1/4] + 3/2 · [-3/4, 3/4]) / 2 = [-3/4, 3/4].

**Corner cases.** In a group of one, and in a group with equal rewards, A is 0 up to rounding, and
an exact 0 is accepted too.

**A long run.** In one test, each of two prompts has four arms with rewards 0 or 1. After 150
updates of 16 pulls with learning_rate 4, the best arm of each prompt must have a probability above
0.9.

## When it is solved

The curve falls as smoothly as a healthy one rises, so noise is not the cause. In a trainer, the
same mistake is a missing minus sign in the loss, or an extra one: an optimizer minimizes its loss,
so the loss must be -J. `grpo-ref diagnose` compares the logged loss with the advantages; see "The
reward falls" in `docs/howto/symptoms.md`.

## See also

* Source: Williams 1992, REINFORCE, with the mean of the group as the baseline.
* Step 1 of the derivation, policy gradient, explains the formula.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/falling_reward
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
        advantages = rewards - rewards.mean(-1, keepdims=True)
        gradient = np.zeros_like(logits)
        for p in range(prompts):
            for g in range(group):
                one_hot = np.eye(arms)[chosen[p, g]]
                gradient[p] += advantages[p, g] * (one_hot - probs[p]) / (prompts * group)
        logits = logits - learning_rate * gradient
    return logits
