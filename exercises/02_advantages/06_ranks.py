"""Rank-based advantages

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, answers each prompt G times. The G answers (completions)
form a group, and each completion gets a reward. If a model of human preferences computes the
reward, its order may be right while its numbers mean little: is the step from 0.1 to 0.2 as large
as the step from 30 to 31?

GOPO uses only the order. The best completion of a group has the advantage 2 and the worst has -2.
The others are evenly spaced in between.

## Your task

Write `rank_advantages(rewards)`.

Return one advantage per completion:

    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1)

rankᵢ is the rank of completion i among the G completions of **its prompt**: 1 is the best (the
highest reward) and G the worst. Completions with equal rewards share the mean of their ranks: two
completions at ranks 1 and 2 have rank 1.5 each. Compare rewards exactly: a difference of 1e-12 is a
difference. A group of one completion gets 0.

| argument  | meaning                                       | shape  | values      |
| --------- | --------------------------------------------- | ------ | ----------- |
| `rewards` | reward of each completion, one row per prompt | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

Return an array of shape (P, G). Up to rounding, each row sums to 0.

## Examples

**Two groups without ties.**

    >>> rank_advantages([[0.1, 30.0, 0.2], [7, 8, 9]])
    [[-2, 2, 0], [-2, 0, 2]]

The ranks are 3, 1, 2 in the first row and 3, 2, 1 in the second. Rank 1 gives 2, rank 2 gives 2 - 4
· 1/2 = 0, and rank 3 gives 2 - 4 · 2/2 = -2. The reward 30 counts no more than the reward 9.

**A tie for the best.**

    >>> rank_advantages([[5, 1, 5, 0]])
    [[1.33333, -0.666667, 1.33333, -2]]

The two rewards of 5 share the ranks 1 and 2: 2 - 4 · 0.5/3 = 1.33333. Rank 3 gives 2 - 4 · 2/3 =
-0.666667, and rank 4 gives 2 - 4 · 3/3 = -2.

**One success, and no difference at all.**

    >>> rank_advantages([[1, 0, 0, 0], [0.1, 0.1, 0.1, 0.1]])
    [[2, -0.666667, -0.666667, -0.666667], [0, 0, 0, 0]]

In the first row, three completions share the ranks 2, 3 and 4, so each has rank 3. In the second
row, each completion has rank 2.5: 2 - 4 · 1.5/3 = 0.

## When it is solved

The abstract of the paper does not say how ties are ranked. The mean rank keeps the sum of each
group at 0. The authors' code implements GOPO; none of the trainers compared in this project does.

Next: `advantages/process` gives each token its own advantage.

## See also

* Source: Choi et al. 2026, GOPO (arXiv:2602.03876).
* `grpo_ref.advantages.ranked` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes gopo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run ordinal --quick` tests a claim about it.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/ranks
"""

import numpy as np


def rank_advantages(rewards):
    """Return advantages from 2 for the best of a group down to -2 for the worst."""
    raise NotImplementedError("advantages/ranks")
