"""Only take the mean off

Easy, 1 point. GRADING.md says how answers are graded.

GRPO lets the policy, the language model in training, answer the same prompt G times and gives each
answer (each completion) a reward. What counts is the advantage: how much better a completion did
than the others of its prompt, its group. GRPO measures this distance in units of the group's
standard deviation. On a prompt that is nearly always solved, or nearly never, this deviation is
small, and dividing by it makes the one odd completion count very much: the policy is then pulled
most by the prompts that tell least. Dr. GRPO leaves the division out.

## Your task

Write `centered_advantages(rewards)`.

Write `centered_advantages(rewards)`. It takes off the mean of the group, and nothing else:

    Aᵢ = rᵢ - mean(r)

The mean runs over the G completions of one prompt, the completion itself among them.

| argument  | meaning                             | shape  | values      |
| --------- | ----------------------------------- | ------ | ----------- |
| `rewards` | one row per prompt, a group in each | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

(P, G) advantages, in units of reward; each row sums to zero.

* A group of one completion gets 0, and so does a group in which all rewards are equal.

## Examples

    >>> centered_advantages([[1, 0, 0, 0]])
    [[0.75, -0.25, -0.25, -0.25]]

The mean is 1/4: 1 - 1/4, and three times 0 - 1/4.

## When it is solved

TRL does this with `scale_rewards="none"`, Open Instruct by default (`centered`), and verl with
`norm_adv_by_std_in_grpo=False`.

## See also

* Source: Liu et al. 2025, Dr. GRPO, sec. 3 (arXiv:2503.20783).
* `grpo_ref.group_centered` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/centered
"""

import numpy as np


def centered_advantages(rewards):
    """How much better than the mean of its group was each completion?"""
    raise NotImplementedError("advantages/centered")
