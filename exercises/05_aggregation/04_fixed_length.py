"""The constant divisor of Dr. GRPO

Easy, 1 point. GRADING.md says how answers are graded.

GRPO divides the sum over a completion's tokens by the length of that completion. In a wrong answer,
each token then gets a small penalty if the answer is long, and a large one if it is short. The
authors of Dr. GRPO argue that wrong answers grow longer for this reason.

Dr. GRPO divides by the same constant for all completions: the budget, which is the largest number
of tokens that the model may write. A token's weight then no longer depends on the length of its
completion.

## Your task

Write `fixed_length_mean(values, mask, max_length)`.

Return the mean over the completions of their token sums, each divided by the budget:

    1/N Σᵢ ( 1/max_length Σₜ mᵢₜ vᵢₜ )

N is the number of completions; each is one row i. t is the position in the row. v stands for
`values` and m for `mask`; padding does not count. A completion without tokens adds 0 and still
counts in N.

`max_length` is the budget. Divide by it as it is, even if the rows are shorter or longer.

| argument     | meaning                               | shape  | values             |
| ------------ | ------------------------------------- | ------ | ------------------ |
| `values`     | one per token, one row per completion | (N, T) | −1e6 to 1e6        |
| `mask`       | 1 on tokens, 0 on padding             | (N, T) | 0 or 1             |
| `max_length` | the budget in tokens                  | number | integer, 1 to 5000 |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.
* Raise a ValueError for this input: `max_length` is 0 or -1.

Return a number; 0 if the batch has no token. A `max_length` below 1 must raise the error even if
the batch has no token. If T is 0, `values` and `mask` are arrays of shape (N, 0).

## Examples

**A budget of 4.** The completions have three tokens and one token. The two values 99 are padding.

    >>> fixed_length_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 4)
    1.5

The sums of the rows are 6 and 6. Divided by 4, both are 1.5, and so is their mean.

**A smaller budget.** Here the budget is smaller than the longest completion.

    >>> fixed_length_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 2)
    3.0

(6 / 2 + 6 / 2) / 2 = 3.

**An empty completion counts in N.**

    >>> fixed_length_mean([[4, 2], [9, 9]], [[1, 1], [0, 0]], 6)
    0.5

(6 / 6 + 0 / 6) / 2 = 0.5.

## When it is solved

TRL's `loss_type="dr_grpo"` changes only this divisor. Dr. GRPO also omits the division of the
advantages by the standard deviation; for that, set `scale_rewards="none"`. verl's
`seq-mean-token-sum-norm` divides by the padded length T unless `loss_scale_factor` is set.

The library function returns the weight of each token, m / (N · max_length).

Next: `aggregation/soft_overlong`, a penalty for completions that nearly use up their budget.

## See also

* Source: Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL loss_type="dr_grpo".
* `grpo_ref.aggregation.fixed_length` computes the same in this package. Look at it when you are
  done.
* Step 9 of the derivation, aggregation, explains the formula.
* `grpo-ref recipes dr_grpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run length_bias --quick` tests a claim about it.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/fixed_length
"""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Return the sum over all tokens, divided by the number of completions times the budget."""
    raise NotImplementedError("aggregation/fixed_length")
