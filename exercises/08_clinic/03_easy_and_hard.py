"""On easy prompts everything is right, on hard ones everything is wrong

Easy, 2 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: a prompt offers V arms, the policy pulls one
of them and is paid for it. The policy is a table with one row of numbers, the logits, for each
prompt; the softmax of a row gives the probability of each arm. The patient below trains on prompts
of very different difficulty: an easy one pays 8 to 10 whatever is drawn, a hard one 0 or 1. After
one update everything that was drawn on the easy prompt has become likelier and everything that was
drawn on the hard one rarer, right or wrong. In the example below the second prompt pays 9 for every
arm, so there is nothing to learn on it; its logits move all the same, by 1.06.

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

* A group of one has advantage 0 and moves nothing; so does a group in which all rewards are equal.
* With learning_rate 4 and groups of 16, after 150 updates the best of four arms that pay 1 with
  probabilities such as 0.1, 0.5, 0.2 and 0.3 must have a probability above 0.9.

## Examples

    >>> train([[[[1, 0], [1, 0]], [[9, 9], [9, 9]]]], [[[0.25, 0.75], [0.25, 0.25]]], 1.0)
    [[0.125, -0.125], [0, 0]]

Both arms of the first prompt are drawn once and pay 1 and 0, so A = 1/2 and -1/2. The two draws add
1/2 · [1/2, -1/2] and -1/2 · [-1/2, 1/2], each with weight 1/4: [1/8, -1/8]. The second prompt pays
9 to both members: A = 0 for both, and nothing moves.

## When it is solved

With one prompt in the batch the fault cannot be seen. In a trainer it comes in with a reshape:
rewards of shape (P G,) whose mean is taken before they are brought into groups.

## See also

* Source: DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300): the baseline is the mean of the group.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

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
