"""Groups with different rewards

Easy, 1 point. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times. The G answers (completions)
form a group. The *advantage* of a completion measures how much better its reward is than the
rewards of its group.

If all completions of a group are right, or all are wrong, every advantage is 0. The policy learns
nothing from such a group, although its completions cost as much time as the others. DAPO drops
these groups and samples other prompts until the batch is full.

## Your task

Write `mixed_groups(rewards)`.

Return one truth value per group:

    True if rᵢ ≠ rⱼ for some completions i and j of the group, else False

rᵢ is the reward of completion i. Rewards can be any numbers, not only 0 and 1. Compare them
exactly: a difference of 1e-12 is a difference. A group of one completion gets False.

| argument  | meaning                                       | shape  | values      |
| --------- | --------------------------------------------- | ------ | ----------- |
| `rewards` | reward of each completion, one row per prompt | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

Return P truth values, as an array of dtype bool or a list of Python's `bool`.

## Examples

**Mixed, all right, all wrong.**

    >>> mixed_groups([[1, 0], [1, 1], [0, 0]])
    [True, False, False]

The rewards of the first group differ. The completions of the second group are all right, and those
of the third group are all wrong.

**Partial credit.** Rewards other than 0 and 1.

    >>> mixed_groups([[0.5, 0.25, 0.5], [0.1, 0.1, 0.1]])
    [True, False]

One reward of the first group differs from the other two. The rewards of the second group are equal,
but `np.std` gives 1.4e-17 for them instead of 0, because the mean of three times 0.1 is rounded.

**Groups of one.**

    >>> mixed_groups([[2], [0]])
    [False, False]

## When it is solved

Trainers test the standard deviation. verl keeps the groups with a standard deviation above 0, and
groups of one. Open Instruct drops the groups with a standard deviation of 0
(`filter_zero_std_samples`). Rounding can break both tests, as in the second example.

In an experiment of this project, dynamic sampling learns faster per update. The dropped groups cost
completions too: per completion, it does not learn faster.

Next: `advantages/gdpo` combines several rewards.

## See also

* Source: Yu et al. 2025, DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476).
* `grpo_ref.filters.mixed_groups` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes dapo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run dead_groups --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/mixed_groups
"""

import numpy as np


def mixed_groups(rewards):
    """Return one truth value per group: do the rewards differ?"""
    raise NotImplementedError("advantages/mixed_groups")
