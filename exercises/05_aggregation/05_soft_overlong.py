"""A ramp instead of a cliff

Medium, 2 points. GRADING.md says how answers are graded.

A model may write at most so many tokens, its budget. An answer that is not finished by then is cut
off and judged wrong, however good it was so far. For the model this is a cliff: one token more, and
the whole reward is gone, without any warning on the tokens before. DAPO puts a ramp in front of the
cliff: over the last stretch of the budget a punishment, added to the reward, grows evenly from 0 to
-1, so that the model learns to come to an end in time.

## Your task

Write `overlong_punishment(lengths, max_length, buffer)`.

Write `overlong_punishment(lengths, max_length, buffer)`, the punishment of each answer by its
length in tokens:

    0                                          if length <= max_length - buffer
    (max_length - buffer - length) / buffer    if max_length - buffer < length <= max_length
    -1                                         if length > max_length

max_length is the budget; buffer is the width of the ramp, both in tokens. Up to the start of the
ramp nothing is punished and nothing is rewarded, and beyond the budget it does not get worse.

| argument     | meaning                     | shape  | values                        |
| ------------ | --------------------------- | ------ | ----------------------------- |
| `lengths`    | tokens of each completion   | (N,)   | whole, from 0 to 2 max_length |
| `max_length` | the budget in tokens        | number | integer, 1 to 20480           |
| `buffer`     | width of the ramp in tokens | number | integer, 1 to 20480           |

* N is at least 1.
* buffer is at most max_length.

(N,) numbers from -1 to 0.

## Examples

    >>> overlong_punishment([7, 9, 12], 10, 2)
    [0, -0.5, -1]

The ramp goes from 8 to 10 tokens: 7 lie before it, (10 - 2 - 9) / 2 = -0.5, and 12 lie beyond the
budget.

## When it is solved

DAPO used a budget of 20480 tokens with a ramp of 4096. Some texts write L_cache for the length at
which the ramp begins; in the paper and in TRL it is the width. verl's ramp goes on falling beyond
the budget. The function of this package takes the width as a share of the budget. DAPO rewards a
right answer with +1 and a wrong one with -1. Where they earn 1 and 0, the penalty counts double,
and a right answer that uses the whole budget earns nothing; half of it has the effect that the
paper means.

## See also

* Source: DAPO, eq. 13 (arXiv:2503.14476); TRL `get_soft_overlong_punishment`.
* `grpo_ref.soft_overlong_punishment` is the same function in this package. Look at it when you are
  done.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/soft_overlong
"""

import numpy as np


def overlong_punishment(lengths, max_length, buffer):
    """0 for short answers, falling to -1 at the budget."""
    raise NotImplementedError("aggregation/soft_overlong")
