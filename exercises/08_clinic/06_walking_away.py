"""A KL penalty without effect

Medium, 2 points. GRADING.md says how answers are graded.

A bandit offers V arms for each of P prompts. The policy π is the softmax of a table of logits, one
row per prompt. A KL penalty is meant to keep π near the reference πref, the policy at the start.

In the program below, the logged KL is exactly 0 in every update. After 100 updates the best of four
arms has probability 0.98 for every kl_coef. In a healthy run it has 0.73 for kl_coef 0.1 and 0.32
for 1.

The picture is in 06_walking_away.svg.

## Your task

Write `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)`.

One line of the given `train` is wrong. Fix it. The logits begin as `start`, and πref is the softmax
of `start` in all updates. Each update must do this:

1. Pull g of prompt p selects an arm: the first one whose cumulative probability π(0) + ... + π(arm)
   is larger than `uniforms[u, p, g]`.
2. A is the reward `payoffs[u, p, g, arm]` minus the mean reward of the G pulls of this prompt.
3. With A constant: logits += learning_rate · ∂J/∂logits.

The objective is

    J = 1/(P G) Σ [A log π(arm) - kl_coef (e⁻ᵛ - 1 + v)],    v = log π(arm) - log πref(arm)

The slope of a term with respect to log π(arm) is A - kl_coef (1 - πref(arm) / π(arm)). The gradient
of log π(arm) in its row is one-hot(arm) - π.

| argument        | meaning                                | shape        | values     |
| --------------- | -------------------------------------- | ------------ | ---------- |
| `start`         | initial logits                         | (P, V)       | −5 to 5    |
| `payoffs`       | reward of arm v for pull g of prompt p | (U, P, G, V) | −5 to 5    |
| `uniforms`      | random numbers, one for each pull      | (U, P, G)    | 0 to 0.999 |
| `learning_rate` | step size                              | number       | 0.01 to 3  |
| `kl_coef`       | weight of the KL penalty               | number       | 0 to 2     |

* U, P and G are at least 1.
* V is at least 2.
* Rounding never decides which arm is selected.

Return the final logits, of shape (P, V).

The tolerance of this exercise is 1e-8.

## Examples

**Defaults, and a start that is not uniform.** The first logit is log 3, so π and πref are 3/4 and
1/4.

    >>> train([[1.0986123, 0.0]], [[[[1, 0], [1, 0]]]], [[[0.25, 0.8]]])
    [[1.59861, -0.5]]

Both arms are pulled once, so A is 1/2 and -1/2. The penalty has slope 0, because π = πref. The
gradient is (1/2 · [1/4, -1/4] - 1/2 · [-3/4, 3/4]) / 2 = [1/4, -1/4]. Times 2, this is the step.

**The penalty pulls back.** The learning rate is 2 log 3, and kl_coef is 1.

    >>> train([[0.0, 0.0]], [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]]],
    ...       [[[0.25, 0.75]], [[0.1, 0.1]]], 2.1972246, 1.0)
    [[0.366204, -0.366204]]

The first update moves the logits by 2.197 · [1/4, -1/4] = [0.549, -0.549], so π becomes 3/4 and
1/4. In the second update both pulls select arm 0 with reward 0. A is 0, and the slope of the
penalty is 1 - (1/2) / (3/4) = 1/3. The logits lose 2.197 · 1/3 · [1/4, -1/4] = [0.183, -0.183].

**A third update.** The reference is still the start. Again no arm has a reward.

    >>> train([[0.0, 0.0]], [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]], [[[0, 0], [0, 0]]]],
    ...       [[[0.25, 0.75]], [[0.1, 0.1]], [[0.1, 0.1]]], 2.1972246, 1.0)
    [[0.180997, -0.180997]]

Now π is 0.675 and 0.325, and the slope of the penalty is 1 - 0.5 / 0.675 = 0.260. The logits lose
2.197 · 0.260 · [0.325, -0.325] = [0.185, -0.185].

**Corner cases.** In a group with equal rewards, A is 0 up to rounding, and an exact 0 is accepted
too.

## When it is solved

In PyTorch, the same mistake is `reference = model` instead of a deep copy, or a reference whose
parameters share their storage with those of the model. `grpo-ref diagnose LOG CONFIG` tests whether
a logged KL is exactly 0.

## See also

* Source: Schulman 2020, Approximating KL divergence, for k3.
* Step 8 of the derivation, kl in the loss, explains the formula.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/walking_away
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


def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    """Train with a KL penalty that keeps the policy near the start."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    logits = np.array(start, dtype=float)
    reference = logits
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        advantages = rewards - rewards.mean(-1, keepdims=True)
        current = np.take_along_axis(probs, chosen, -1)
        at_start = np.take_along_axis(softmax(reference), chosen, -1)
        slope = advantages - kl_coef * (1 - at_start / current)
        one_hot = np.eye(arms)[chosen]
        gradient = (slope[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits += learning_rate * gradient
    return logits
