"""The reward falls from the first update on

Easy, 2 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one
of them and is paid for it. The policy is a table with one row of numbers, the logits, for each
prompt; the softmax of a row gives the probability of each arm. The patient below is such a training
loop. Each of its two prompts offers four arms, and an arm drawn blindly pays 0.44 on average. The
reward starts there and falls: to 0.33 after 20 updates of groups of 16, to 0.26 after 100, close to
what the worst arms pay. It falls as smoothly as healthy curves rise, and that is a sign: nothing is
random about this fault.

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

* A group of one has advantage 0 and moves nothing.
* With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with
  probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9.

## Examples

    >>> train([[[[1, 0], [1, 0]]]], [[[0.25, 0.75]]], 1.0)
    [[0.25, -0.25]]

Both arms have probability 1/2; 0.25 draws arm 0, which pays 1, and 0.75 draws arm 1, which pays 0.
The mean reward is 1/2, so A = 1/2 and -1/2. The first draw adds 1/2 · [1/2, -1/2], the second -1/2
· [-1/2, 1/2], and the mean of both is [1/4, -1/4].

## When it is solved

In a trainer the same fault is a loss whose minus is missing, or a minus too many: an optimizer goes
downhill on what it is given, so it has to be given -J. For the log of a trainer, see "The reward
falls" in docs/howto/symptoms.md: `grpo-ref diagnose` compares the logged loss with the advantages.

## See also

* Source: Williams 1992, REINFORCE, with the mean of the group for a baseline.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/falling_reward
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
        advantages = rewards - rewards.mean(-1, keepdims=True)
        gradient = np.zeros_like(logits)
        for p in range(prompts):
            for g in range(group):
                one_hot = np.eye(arms)[chosen[p, g]]
                gradient[p] += advantages[p, g] * (one_hot - probs[p]) / (prompts * group)
        logits = logits - learning_rate * gradient
    return logits
