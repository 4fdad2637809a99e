"""Which groups teach anything?

Easy, 1 point. GRADING.md says how answers are graded.

The policy, the language model in training, answers the same prompt G times, and these answers
(completions) form a group. A completion's advantage says how much better its reward is than the
rest of the group. If all completions of a prompt are right, or all wrong, there is no better and no
worse: every advantage is 0 and the prompt teaches nothing, although its completions have cost as
much to write as the others. DAPO throws such groups away and draws other prompts until the batch is
full.

## Your task

Write `mixed_groups(rewards)`.

Write `mixed_groups(rewards)`. For each group it says whether its completions differ in reward:

    True if rᵢ ≠ rⱼ for some completions i and j of the group, else False

Rewards are any numbers, not only 0 and 1. They are compared exactly: a difference of 1e-12 is one,
and three rewards of 0.1 are equal, whatever rounding makes of their mean.

| argument  | meaning                             | shape  | values      |
| --------- | ----------------------------------- | ------ | ----------- |
| `rewards` | one row per prompt, a group in each | (P, G) | −1e4 to 1e4 |

* P and G are at least 1.

(P,) truth values, Python's or NumPy's (dtype bool).

* A group of one completion has nothing to differ from: False.

## Examples

    >>> mixed_groups([[1, 0], [1, 1], [0, 0]])
    [ True, False, False]

The rewards of the first group differ; the second is all right and the third all wrong.

## When it is solved

Trainers look at the standard deviation: verl keeps groups where it is above 0, and groups of one;
Open Instruct drops those where it is 0 (`filter_zero_std_samples`). Rounding can make it 1e-17
where all rewards are equal.

## See also

* Source: DAPO, dynamic sampling, eq. 11 (arXiv:2503.14476).
* `grpo_ref.mixed_groups` is the same function in this package. Look at it when you are done.
* The notebook 08_several_rewards.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade advantages/mixed_groups
"""

import numpy as np


def mixed_groups(rewards):
    """Whether the completions of each group differ in reward."""
    raise NotImplementedError("advantages/mixed_groups")
