"""Large groups that learn less

Medium, 2 points. GRADING.md says how answers are graded.

A bandit offers V arms for each of P prompts. The policy is a table of logits with one row per
prompt; the softmax of a row gives the probability of each arm.

In the program below, array indexing has replaced slow loops. Since then, larger groups learn less.
With two arms of expected reward 0.2 and 0.8 and a group of 64, one update changes the logits by
0.01 on average, instead of 0.30.

The picture is in 04_large_groups.svg.

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

**One update by hand.** The pulls select arms 0, 0 and 1, with rewards 3, 3 and 0.

    >>> train([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)
    [[0.666667, -0.666667]]

The mean is 2, so A is 1, 1 and -2. The first two pulls add [1/2, -1/2] each, the third adds -2 ·
[-1/2, 1/2]. The sum is [2, -2], divided by P G = 3.

**Two prompts.** The learning rate is the default.

    >>> train([[[[1, 0], [1, 0], [1, 0], [1, 0]], [[0, 2], [0, 2], [0, 2], [0, 2]]]],
    ...       [[[0.25, 0.25, 0.25, 0.75], [0.25, 0.75, 0.75, 0.75]]])
    [[0.1875, -0.1875], [-0.375, 0.375]]

On the first prompt, the rewards are 1, 1, 1 and 0, so A is 1/4 three times and -3/4 once. The sum
is 3 · 1/4 · [1/2, -1/2] - 3/4 · [-1/2, 1/2] = [3/4, -3/4]. On the second prompt, the rewards are 0,
2, 2 and 2, and the sum is [-3/2, 3/2]. Both are multiplied by learning_rate / (P G) = 1/4.

**Corner cases.** In a group of one, and in a group with equal rewards, A is 0 up to rounding, and
an exact 0 is accepted too.

**A long run.** In one test, each of two prompts has four arms with rewards 0 or 1. After 150
updates of 16 pulls with learning_rate 4, the best arm of each prompt must have a probability above
0.9.

## When it is solved

A larger group should measure the same step more precisely, not make the step smaller. PyTorch has
the same trap: `gradient[rows] += step` adds only one of several visits.
`gradient.index_put_((rows,), step, accumulate=True)` and `index_add_` add all of them.

## See also

* Source: NumPy's documentation of `ufunc.at`.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/large_groups
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
