"""Score each completion against its own group

Easy, 2 points. GRADING.md says how answers are graded.

GRPO lets the policy answer the same prompt G times and gives each answer (each completion) a
reward. Was a reward of 0.6 good? That depends on the prompt: where the other answers got 0.1 it
was, where they got 0.9 it was not. So GRPO compares a completion with the others of its prompt,
which form its group. The result is the advantage: positive for a completion that shall become more
likely, negative for one that shall become less likely. Older methods train a second network to say
what to expect; here the group says it.

## Your task

Write `group_advantages(rewards, eps=0.0001)`.

Write `group_advantages(rewards, eps=1e-4)`. It gives every completion the distance of its reward
from the mean of its group, in units of the group's standard deviation:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)

Mean and standard deviation run over the completions of one prompt. The standard deviation is the
one of a population: it divides the sum of squares by G, not by G - 1. eps is added to it, so that a
group in which all rewards are equal gets 0 and not 0/0.

| argument  | meaning                                            | shape  | values      |
| --------- | -------------------------------------------------- | ------ | ----------- |
| `rewards` | one row per prompt                                 | (P, G) | −1e4 to 1e4 |
| `eps`     | keeps a group of equal rewards at 0 instead of 0/0 | number | 1e-8 to 1   |

* P and G are at least 1.

(P, G) advantages; each row sums to zero.

* A group of one completion gets 0.

## Examples

    >>> group_advantages([[0, 1]])
    [[-0.9998, 0.9998]]

The mean is 1/2 and so is the standard deviation: -0.5 / 0.5001 and 0.5 / 0.5001.

## When it is solved

Trainers differ in this line: TRL (eps 1e-4) and verl (eps 1e-6) divide by G - 1, Open Instruct (eps
1e-8) by G.

## See also

* Source: DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300); Open Instruct's `standard`.
* `grpo_ref.group_normalized` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/group_normalized
"""

import numpy as np


def group_advantages(rewards, eps=1e-4):
    """How much better than its siblings was each completion?"""
    raise NotImplementedError("advantages/group_normalized")
