"""The centered advantage

Easy, 1 point. GRADING.md says how answers are graded.

GRPO lets the policy answer each prompt G times. The G answers (completions) form a group. The
*advantage* of a completion measures how much better its reward is than the rewards of its group,
and GRPO divides this difference by the standard deviation of the group.

On a prompt that is nearly always solved, or nearly never, the standard deviation is small. The
division then makes the advantage of the one different completion large. The authors of Dr. GRPO
describe this as a bias towards very easy and very hard prompts, and omit the division.

## Your task

Write `centered_advantages(rewards)`.

Subtract the mean of the group from each reward:

    Aᵢ = rᵢ - mean(r)

rᵢ is the reward of completion i. The mean runs over the G completions of **one prompt**, including
completion i.

| argument  | meaning                                       | shape  | values      |
| --------- | --------------------------------------------- | ------ | ----------- |
| `rewards` | reward of each completion, one row per prompt | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

Return an array of shape (P, G), in units of reward. Up to rounding, each row sums to 0.

## Examples

**Two prompts.** The first is solved once, the second twice.

    >>> centered_advantages([[1, 0, 0, 0], [1, 1, 0, 0]])
    [[0.75, -0.25, -0.25, -0.25], [0.5, 0.5, -0.5, -0.5]]

The mean of the first row is 1/4: 1 - 1/4 = 0.75 and 0 - 1/4 = -0.25. The mean of the second row is
1/2.

**The mean includes every reward.**

    >>> centered_advantages([[0, 0, 3], [7, 7, 4]])
    [[-1, -1, 2], [1, 1, -2]]

The means are (0 + 0 + 3) / 3 = 1 and (7 + 7 + 4) / 3 = 6.

**No difference, no advantage.** Each group has a single completion, which is its own mean.

    >>> centered_advantages([[3], [8]])
    [[0], [0]]

Equal rewards in a larger group also give 0, up to rounding.

## When it is solved

TRL does this with `scale_rewards="none"`, verl with `norm_adv_by_std_in_grpo=False`, and Open
Instruct by default (`centered`).

With division, the rewards 1, 0, 0, 0 give the advantage 1.73 to the success, and 1, 1, 0, 0 give
1.00: the rare success counts 1.7 times as much as a common one. Without division, the advantages
are 0.75 and 0.5, a ratio of 1.5.

Next: `advantages/leave_one_out` compares a reward with the *other* rewards only.

## See also

* Source: Liu et al. 2025, Dr. GRPO, sec. 3 (arXiv:2503.20783).
* `grpo_ref.advantages.group_centered` computes the same in this package. Look at it when you are
  done.
* Step 2 of the derivation, baseline, explains the formula.
* `grpo-ref recipes dr_grpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run std_division --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/centered
"""

import numpy as np


def centered_advantages(rewards):
    """Return how much better each completion is than its group."""
    raise NotImplementedError("advantages/centered")
