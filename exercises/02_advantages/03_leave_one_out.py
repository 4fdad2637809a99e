"""The leave-one-out advantage

Easy, 1 point. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times. The G answers (completions)
form a group. Some prompts are easier than others, so each reward is compared with a *baseline*, an
estimate of the reward that was to be expected for this prompt. The difference is the *advantage* of
the completion.

The mean of the group is such a baseline, but it includes the completion's own reward. A good
completion raises its own baseline, so its advantage is too small. The method RLOO (REINFORCE
leave-one-out) uses the other completions only.

## Your task

Write `leave_one_out(rewards)`.

Subtract from each reward the mean of the other rewards of its group:

    Aᵢ = rᵢ - 1/(G - 1) Σ_{j≠i} rⱼ

rᵢ is the reward of completion i. The sum runs over the G - 1 other completions of the same prompt.
If G is 1, there are no others, and the advantage is 0.

| argument  | meaning                                       | shape  | values      |
| --------- | --------------------------------------------- | ------ | ----------- |
| `rewards` | reward of each completion, one row per prompt | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

Return an array of shape (P, G), in units of reward. Up to rounding, each row sums to 0.

## Examples

**One of three is right.**

    >>> leave_one_out([[1, 0, 0]])
    [[1, -0.5, -0.5]]

The first completion: the others have the mean (0 + 0) / 2 = 0, and 1 - 0 = 1. The second: (1 + 0) /
2 = 0.5, and 0 - 0.5 = -0.5. The third is like the second.

**Groups do not mix.**

    >>> leave_one_out([[4, 1, 1], [6, 6, 3]])
    [[3, -1.5, -1.5], [1.5, 1.5, -3]]

First row: 4 - (1 + 1) / 2 = 3, and 1 - (4 + 1) / 2 = -1.5. Second row: 6 - (6 + 3) / 2 = 1.5, and 3
- (6 + 6) / 2 = -3.

**Groups of one.** There is no other completion.

    >>> leave_one_out([[5], [1]])
    [[0], [0]]

## When it is solved

The leave-one-out advantage is G/(G - 1) times the centered reward. On average over all groups, it
gives the exact gradient of the expected reward; the centered reward gives (G - 1)/G of it.

verl's `rloo_vectorized` gives 0 to a group of one, like your function. verl's `rloo` keeps the
reward of such a group.

Next: `advantages/mixed_groups` finds the prompts on which all advantages are 0.

## See also

* Source: Ahmadian et al. 2024, Back to basics (RLOO) (arXiv:2402.14740).
* `grpo_ref.advantages.leave_one_out` computes the same in this package. Look at it when you are
  done.
* Step 5 of the derivation, group, explains the formula.
* `grpo-ref recipes rloo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run leave_one_out --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/leave_one_out
"""

import numpy as np


def leave_one_out(rewards):
    """Return each reward minus the mean of the other rewards of its group."""
    raise NotImplementedError("advantages/leave_one_out")
