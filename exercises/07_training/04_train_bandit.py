"""Train a bandit

Medium, 3 points. GRADING.md says how answers are graded.

A bandit is the smallest world in which one can train: V arms, and in each update the policy pulls
one of them for each of the G members of a group; one pull is one completion. The policy is a row of
V numbers, the logits, and pulls arm a with probability softmax(logits)[a]. What a member is paid is
its reward, and its advantage says how much better than its group it did. The whole of GRPO is in
here, and all that you need is from earlier exercises: a softmax, sampling, group advantages, the
gradient of the softmax.

## Your task

Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`.

Write `train_bandit(payoffs, uniforms, learning_rate=2.0)`. The logits are zeros at first. In each
of the U updates

1. π = softmax(logits). Member g draws an arm: the first one whose cumulative probability π(0) + ...
   + π(arm) is larger than its number in `uniforms`
2. its reward r is what this arm pays to this member in this update, `payoffs[update, g, arm]`
3. its advantage is A = (r - mean(r)) / (std(r) + 1e-4) over the group; the standard deviation
   divides by G, not by G - 1
4. all members move the logits together, each with the gradient of log π(arm):

    logits += learning_rate · 1/G Σ A (one-hot(arm) - π)

| argument        | meaning                                      | shape     | values       |
| --------------- | -------------------------------------------- | --------- | ------------ |
| `payoffs`       | what arm v would pay to member g in update u | (U, G, V) | −100 to 100  |
| `uniforms`      | random numbers, one for each draw            | (U, G)    | 0 to 0.999   |
| `learning_rate` | length of a step                             | number    | 0.01 to 4000 |

* U and G are at least 1.
* V is at least 2.

(V,) the logits after U updates.

* A group of one, or one in which all rewards are equal, has A = 0 and moves nothing.
* With large learning rates the logits reach thousands: take the largest off before exponentiating.
* After 60 updates of 16 pulls with the default learning rate, the best of five arms that pay 1 with
  probabilities 0.8, 0.4, 0.3, 0.2 and 0.1, in any order, must have a probability above 0.9.

## Examples

    >>> train_bandit([[[1, 0], [1, 0]]], [[0.25, 0.75]], 1.0)
    [0.4999, -0.4999]

Both arms have probability 1/2: 0.25 draws arm 0, which pays 1, and 0.75 draws arm 1, which pays 0.
Mean and std are 1/2, so A = ±0.5/0.5001 = ±1/1.0002. Both draws add 1/1.0002 · [1/2, -1/2], and so
that is their mean.

## When it is solved

The advantages of a group add up to zero, so the -π adds nothing to this step: whoever leaves it out
gets away with it here, and not where a clip or a filter takes some of them out.

## See also

* Source: Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300), with one token per
  completion.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/train_bandit
"""

import numpy as np


def train_bandit(payoffs, uniforms, learning_rate=2.0):
    """The logits of a softmax over the arms after one update a row of payoffs."""
    raise NotImplementedError("training/train_bandit")
