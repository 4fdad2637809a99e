"""It walks away on its leash

Medium, 2 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one
of them and is paid for it. The policy is a table with one row of numbers, the logits, for each
prompt; the softmax of a row gives the probability of each arm. The patient below has a leash: a
penalty that shall keep the policy near the reference, the policy that it started with. It does not
hold. Trained for 100 updates on four arms, of which the best pays 1 with probability 0.5, the
policy takes this arm with probability 0.985, and it does so whether kl_coef is 0, 0.1 or 1; in a
healthy run that is 0.985, 0.71 and 0.33. The distance from the reference that the patient reports
is exactly 0 in every update.

## Your task

Write `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)`.

Find the fault in `train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1)` below and mend
it: one line is wrong, the rest is right. The program shall do the following. The logits are `start`
at first, and the reference πref is the softmax of `start` from beginning to end. In each of the U
updates

1. π is the softmax of each row of logits. Every member g of the group of prompt p draws an arm: the
   first one whose cumulative probability π(0) + ... + π(arm) is larger than its number in
   `uniforms`
2. its reward is `payoffs[update, p, g, arm]`, and its advantage A is this reward minus the mean
   reward of its group, the G members of the same prompt
3. the logits take one step uphill, logits += learning_rate · ∂J/∂logits, with A held constant, on

    J = 1/(P G) Σ [A log π(arm) - kl_coef (e⁻ᵛ - 1 + v)],    v = log π(arm) - log πref(arm)

The slope of one term with respect to log π(arm) is A - kl_coef (1 - πref(arm) / π(arm)), and the
gradient of log π(arm) with respect to the logits of its prompt is the one-hot vector of the arm
minus π.

* `start`: logits to begin with; (P, V); −5 to 5.
* `payoffs`: what arm v would pay to member g of prompt p in update u; (U, P, G, V); −5 to 5.
* `uniforms`: random numbers, one for each draw; (U, P, G); 0 to 0.999.
* `learning_rate`: length of a step; number; 0.01 to 3.
* `kl_coef`: weight of the penalty; number; 0 to 2.

* U, P and G are at least 1.
* V is at least 2.

(P, V) the logits after U updates.

* `start` itself must be left as it was.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train([[0.0, 0.0]], [[[[1, 0], [1, 0]]], [[[0, 0], [0, 0]]]], [[[0.25, 0.75]], [[0.1, 0.1]]], 2.1972245773362196, 1.0)
    [[0.366204, -0.366204]]

In the first update the arms are drawn once each and pay 1 and 0; the penalty has no slope yet, and
the step is 2.197 · [1/4, -1/4] = [0.549, -0.549]. Now π is 3/4 and 1/4. In the second update both
draw arm 0 and nothing is paid: A = 0, and the slope of the penalty is 1 - (1/2)/(3/4) = 1/3 for
both. That takes 2.197 · 1/3 · [1/4, -1/4] = [0.183, -0.183] back.

## When it is solved

In PyTorch the same fault is `reference = model` in place of a deep copy, or a reference kept as
parameters that share their storage with the model's. In a log the KL to the reference is then
exactly 0: `grpo-ref diagnose LOG CONFIG` tests this, see docs/howto/symptoms.md.

## See also

* Source: Schulman 2020, Approximating KL divergence: the penalty is his k3.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

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
