"""The soft overlong penalty

Medium, 2 points. GRADING.md says how answers are graded.

A model may write only a limited number of tokens, its budget. An answer that is not finished by
then is cut off and counts as wrong, however good its reasoning was. Up to the budget, the length
has no effect on the reward. One token more, and the whole reward is lost.

DAPO makes this change gradual. Over the last tokens of the budget, a penalty grows evenly from 0 to
-1. It is added to the reward, so the model can learn to finish in time.

## Your task

Write `overlong_punishment(lengths, max_length, buffer)`.

Return the penalty of each completion:

    0                                          if length <= max_length - buffer
    (max_length - buffer - length) / buffer    if max_length - buffer < length <= max_length
    -1                                         if length > max_length

length is the number of tokens of the completion, one element of `lengths`. `max_length` is the
budget. `buffer` is the number of tokens over which the penalty grows; it is not the length at which
the penalty begins.

| argument     | meaning                             | shape  | values                      |
| ------------ | ----------------------------------- | ------ | --------------------------- |
| `lengths`    | number of tokens of each completion | (N,)   | integers, 0 to 2 max_length |
| `max_length` | the budget in tokens                | number | integer, 1 to 20480         |
| `buffer`     | tokens over which the penalty grows | number | integer, 1 to 20480         |

* N is at least 1.
* `buffer` is at most `max_length`.

Return an array of shape (N,) with numbers from -1 to 0.

## Examples

**All parts of the formula.** The penalty grows from 8 to 10 tokens.

    >>> overlong_punishment([3, 8, 9, 10, 12], 10, 2)
    [0, 0, -0.5, -1, -1]

3 and 8 are at most 10 - 2 = 8, so the penalty is 0. For 9, it is (10 - 2 - 9) / 2 = -0.5. For 10,
it is (10 - 2 - 10) / 2 = -1. A completion of 12 tokens is over the budget, so its penalty is -1,
too.

**The penalty grows over the whole budget.** Here `buffer` is equal to `max_length`.

    >>> overlong_punishment([0, 5, 10], 10, 10)
    [0, -0.5, -1]

(10 - 10 - 5) / 10 = -0.5.

**The numbers of DAPO.** The budget is 20480 tokens, and the buffer is 4096 tokens.

    >>> overlong_punishment([16384, 17408, 20480], 20480, 4096)
    [0, -0.25, -1]

The penalty begins at 20480 - 4096 = 16384 tokens. 17408 is 1024 tokens later, a quarter of the
buffer.

## When it is solved

DAPO's paper writes L_max for `max_length` and L_cache for `buffer`. verl's penalty keeps falling
beyond the budget. In grpo_ref's experiment, the penalty does harm: it takes reward from sound
reasoning that ends within the buffer.

DAPO rewards a right answer with +1 and a wrong one with -1. If your rewards are 1 and 0, multiply
the penalty by 0.5 for the same effect. Otherwise a right answer that uses the whole budget has the
total reward 0, like a short wrong answer.

The library function takes `buffer` as a fraction of the budget: 0.2 for DAPO's numbers.

Next: `aggregation/group_token_mean`, the average in DAPO's paper.

## See also

* Source: Yu et al. 2025, DAPO, eq. 13 (arXiv:2503.14476); TRL get_soft_overlong_punishment.
* `grpo_ref.rewards.soft_overlong_punishment` computes the same in this package. Look at it when you
  are done.
* `grpo-ref recipes dapo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run overlong --quick` tests a claim about it.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/soft_overlong
"""

import numpy as np


def overlong_punishment(lengths, max_length, buffer):
    """Return 0 for short completions, and numbers down to -1 for the last `buffer` tokens of the budget."""
    raise NotImplementedError("aggregation/soft_overlong")
