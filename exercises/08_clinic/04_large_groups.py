"""The larger the group, the less it learns

Medium, 2 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one
of them and is paid for it. The policy is a table with one row of numbers, the logits, for each
prompt; the softmax of a row gives the probability of each arm. The patient below has no slow loops
any more: somebody replaced them with indexing, and since then large groups learn less than small
ones. One update on a prompt with two arms, which pay with probabilities 0.2 and 0.8, moves the
logits by 0.11 with a group of 2, by 0.05 with a group of 8 and by 0.01 with a group of 64; in a
healthy run it is 0.13, 0.29 and 0.29. A larger group should give a better measurement of the same
step, not a smaller step.

## Your task

Write `train(payoffs, uniforms, learning_rate=2.0)`.

Find the fault in `train(payoffs, uniforms, learning_rate=2.0)` below and mend it: one line is
wrong, the rest is right. The program shall do the following. The logits are zeros at first. In each
of the U updates

1. π is the softmax of each row of logits. Every member g of the group of prompt p draws an arm: the
   first one whose cumulative probability π(0) + ... + π(arm) is larger than its number in
   `uniforms`
2. its reward r is what this arm pays to it in this update, `payoffs[update, p, g, arm]`
3. its advantage A is r minus the mean reward of its group, the G members of the same prompt
4. the logits take one step uphill on the mean of A log π over all prompts and members, with A held
   constant:

    logits += learning_rate · ∂J/∂logits,    J = 1/(P G) Σ A log π(arm)

A draw moves only the row of its prompt, where the gradient of log π(arm) is the one-hot vector of
the arm minus π.

* `payoffs`: what arm v would pay to member g of prompt p in update u; (U, P, G, V); −20 to 20.
* `uniforms`: random numbers, one for each draw; (U, P, G); 0 to 0.999.
* `learning_rate`: length of a step; number; 0.01 to 5.

* U, P and G are at least 1.
* V is at least 2.

(P, V) the logits after U updates.

* An arm that several members draw collects the gradients of all of them.
* With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with
  probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9.

## Examples

    >>> train([[[[3, 0], [3, 0], [0, 0]]]], [[[0.25, 0.25, 0.75]]], 1.0)
    [[0.666667, -0.666667]]

Arms 0, 0 and 1 are drawn and pay 3, 3 and 0; the mean is 2, so A = 1, 1 and -2. The first two draws
add [1/2, -1/2] each, the third adds -2 · [-1/2, 1/2] = [1, -1]; a third of the sum [2, -2] is the
step.

## When it is solved

PyTorch has the same trap: `gradient[rows] += step` against `gradient.index_put_((rows,), step,
accumulate=True)` or `index_add_`.

## See also

* Source: NumPy's documentation of `ufunc.at`.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/large_groups
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
