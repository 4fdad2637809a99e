"""Ranks instead of rewards

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, answers a prompt G times; these answers (completions)
form a group, and each gets a reward. Where the reward comes from a model of people's taste, the
order of the answers may be right while the numbers mean little: is the step from 0.1 to 0.2 the
same as that from 30 to 31? GOPO keeps the order alone. The best of a group gets the advantage 2,
the worst -2, and the others lie evenly in between, whatever the rewards are.

## Your task

Write `rank_advantages(rewards)`.

Write `rank_advantages(rewards)`:

    Aᵢ = 2 - 4 (rankᵢ - 1) / (G - 1)

The best completion of a group of G has rank 1, the worst rank G. Equal rewards share the mean of
the ranks that they take up together: two at the top, on the places 1 and 2, have rank 1.5 each.
Rewards are compared exactly; a difference of 1e-12 makes one better.

| argument  | meaning                             | shape  | values      |
| --------- | ----------------------------------- | ------ | ----------- |
| `rewards` | one row per prompt, a group in each | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

(P, G) advantages between -2 and 2; each row sums to zero.

* A group of one completion gets 0, and so does a group in which all rewards are equal.

## Examples

    >>> rank_advantages([[0.1, 30.0, 0.2]])
    [[-2, 2, 0]]

30 is the best, rank 1: 2 - 0 = 2. Then 0.2, rank 2: 2 - 4/2 = 0. Then 0.1, rank 3: 2 - 8/2 = -2.

    >>> rank_advantages([[5, 1, 5, 0]])
    [[1.33333, -0.666667, 1.33333, -2]]

The two best share the ranks 1 and 2: 2 - 4 · 0.5/3 = 4/3. Ranks 3 and 4 give 2 - 8/3 and 2 - 12/3.

## When it is solved

The abstract does not say how ties are ranked; the mean rank keeps the sum of a group at 0. No
trainer has it built in.

## See also

* Source: GOPO, abstract (arXiv:2602.03876).
* `grpo_ref.ranked` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/ranks
"""

import numpy as np


def rank_advantages(rewards):
    """Advantages from 2 for the best of a group down to -2 for the worst."""
    raise NotImplementedError("advantages/ranks")
