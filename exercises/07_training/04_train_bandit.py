"""Train a bandit

Medium, 3 points. GRADING.md says how answers are graded.

A bandit is the smallest problem of reinforcement learning. The policy pulls one of V arms and gets
a reward at once, so a pull is a completion of one token. The policy is a row of V logits, and it
pulls arm a with probability softmax(logits)[a].

The loop is that of GRPO: sample a group, compare its rewards, move the logits. You know all parts
from earlier exercises.

## Your task

Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`.

Train for U updates with a group of G pulls each. The logits start at 0. Each update has four steps:

1. π = softmax(logits). Pull g selects an arm: the first one whose cumulative probability π(0) + ...
   + π(arm) is larger than `uniforms[u, g]`.
2. The reward of the pull is r = `payoffs[u, g, arm]`.
3. The advantage of the pull is A = (r - mean(r)) / (std(r) + 1e-4), with mean and standard
   deviation over the G pulls. The standard deviation divides by G, not by G - 1.
4. All pulls move the logits together.

The formula of the fourth step is

    logits += learning_rate · 1/G Σ A (one-hot(arm) - π)

The sum runs over the G pulls. one-hot(arm) is 1 at the arm and 0 elsewhere.

| argument        | meaning                                | shape     | values       |
| --------------- | -------------------------------------- | --------- | ------------ |
| `payoffs`       | reward of arm v for pull g in update u | (U, G, V) | −10 to 10    |
| `uniforms`      | random numbers, one for each pull      | (U, G)    | 0 to 0.999   |
| `learning_rate` | step size                              | number    | 0.01 to 4000 |

* U and G are at least 1.
* V is at least 2.
* Rounding never decides which arm is selected.

Return the logits after all updates, an array of shape (V,).

## Examples

**One update by hand.** Both arms have probability 1/2.

    >>> train_bandit([[[1, 0], [1, 0]]], [[0.25, 0.75]], 1.0)
    [0.4999, -0.4999]

The number 0.25 selects arm 0 with reward 1, and 0.75 selects arm 1 with reward 0. Mean and standard
deviation are 1/2, so A = ±0.5 / 0.5001 = ±1/1.0002. Each pull adds 1/1.0002 · [1/2, -1/2]. The mean
of both is the same.

**A number equal to a cumulative probability.** The cumulative probabilities are 1/4, 1/2, 3/4 and
1. The learning rate is the default.

    >>> train_bandit([[[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0]]],
    ...              [[0, 0.25, 0.5, 0.75]])
    [-0.288608, -0.288608, 0.865825, -0.288608]

The pulls select arms 0, 1, 2 and 3: the sum up to arm 0 is 0.25, which is not larger than 0.25.
Only arm 2 has a reward. The mean is 0.25, and the standard deviation is 0.433013. So A is 0.75 /
0.433113 = 1.73165 for arm 2 and -0.57722 for the others, and each logit is 2 · 1/4 · A.

**Two updates.** The second update samples from the new policy.

    >>> train_bandit([[[1, 0], [1, 0]], [[2, 0], [2, 0]]], [[0.25, 0.75], [0.6, 0.8]], 1.0)
    [0.99985, -0.99985]

After the first update π is 0.731 and 0.269, so 0.6 selects arm 0 with reward 2, and 0.8 selects arm
1 with reward 0. A = ±1/1.0001, and the step is 1/1.0001 · [1/2, -1/2].

**Corner cases.** In a group of one, and in a group with equal rewards, A is 0 up to rounding, and
an exact 0 is accepted too. Large learning rates give logits in the thousands, for which `np.exp`
overflows.

**A long run.** In one test, five arms have reward 1 with probabilities 0.8, 0.4, 0.3, 0.2 and 0.1,
in any order. After 60 updates of 16 pulls with the default learning rate, the best arm must have a
probability above 0.9.

## When it is solved

The advantages of a group sum to 0, so the term with π cancels in the fourth step. It no longer
cancels when a clip or a filter removes some of the pulls. Next: a language model in a table, with
several steps per batch.

## See also

* Source: Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300), with one token per
  completion.
* Step 5 of the derivation, group, explains the formula.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/train_bandit
"""

import numpy as np


def train_bandit(payoffs, uniforms, learning_rate=2.0):
    """Return the logits of the arms after all updates."""
    raise NotImplementedError("training/train_bandit")
