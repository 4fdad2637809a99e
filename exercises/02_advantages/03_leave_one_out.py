"""What did the others get?

Easy, 1 point. GRADING.md says how answers are graded.

GRPO lets the policy, the language model in training, answer the same prompt G times. Each answer
(each completion) gets a reward, and the completions of one prompt form a group. How good a reward
is depends on the prompt, so it is compared with a baseline, what was to be expected there. The mean
of the group is such a baseline, but the completion has a part in it: a good one raises the very bar
that it is measured by, and so every advantage comes out too small. RLOO (leave one out) asks only
what the others got.

## Your task

Write `leave_one_out(rewards)`.

Write `leave_one_out(rewards)`: each reward minus the mean of the other rewards of its group.

    Aᵢ = rᵢ - 1/(G - 1) Σ_{j≠i} rⱼ

The sum runs over the G - 1 other completions of the same prompt.

| argument  | meaning                             | shape  | values      |
| --------- | ----------------------------------- | ------ | ----------- |
| `rewards` | one row per prompt, a group in each | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

(P, G) advantages, in units of reward; each row sums to zero.

* A group of one completion has no others: its advantage is 0.

## Examples

    >>> leave_one_out([[1, 0, 0]])
    [[1, -0.5, -0.5]]

The others of the first got 0 and 0: 1 - 0. The others of the second got 1 and 0: 0 - 1/2; the same
for the third.

## When it is solved

It is G/(G - 1) times the centered reward. verl's `rloo` keeps the reward itself for a group of one,
its `rloo_vectorized` gives 0 as here.

## See also

* Source: Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl
  `compute_rloo_vectorized_outcome_advantage`.
* `grpo_ref.leave_one_out` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/leave_one_out
"""

import numpy as np


def leave_one_out(rewards):
    """Each reward minus the mean of the other rewards of its group."""
    raise NotImplementedError("advantages/leave_one_out")
