"""The mean of means

Easy, 1 point. GRADING.md says how answers are graded.

The loss has one value per token, and a training step needs one number for the whole batch. GRPO
averages twice: first over the tokens of each completion, then over the completions. So every
completion has the same weight, and the tokens of a long completion have less weight than those of a
short one.

This choice has a side effect. In a long wrong answer, each token gets a small penalty. The authors
of Dr. GRPO argue that wrong answers therefore grow longer during training. They call this the
length bias.

## Your task

Write `sequence_mean(values, mask)`.

Return the mean over the completions of the mean over their tokens:

    1/N Σᵢ ( 1/|oᵢ| Σₜ mᵢₜ vᵢₜ )

N is the number of completions; each is one row i. t is the position in the row. v stands for
`values` and m for `mask`. |oᵢ| is the number of tokens of completion i, which is the sum of its row
of the mask.

Padding does not count. A token with the value 0 counts like any other token. A completion without
tokens adds 0 to the outer sum and still counts in N.

| argument | meaning                               | shape  | values      |
| -------- | ------------------------------------- | ------ | ----------- |
| `values` | one per token, one row per completion | (N, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding             | (N, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.

Return a number; 0 if the batch has no token. If T is 0, both arguments are arrays of shape (N, 0).

## Examples

**Three tokens and one.** The two values 99 are padding.

    >>> sequence_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    4.0

The completions have the means (1 + 2 + 3) / 3 = 2 and 6 / 1 = 6, and (2 + 6) / 2 = 4. The mean of
all tokens would be 3.

**An empty completion counts in N.**

    >>> sequence_mean([[4, 2], [9, 9]], [[1, 1], [0, 0]])
    1.5

The first completion has the mean (4 + 2) / 2 = 3, the second adds 0: (3 + 0) / 2 = 1.5.

**Padding can be anywhere.** The two values 50 are padding. The 0 in the second row is the value of
a token.

    >>> sequence_mean([[1, 50, 3], [8, 0, 50]], [[1, 0, 1], [1, 1, 0]])
    3.0

(1 + 3) / 2 = 2 and (8 + 0) / 2 = 4, and the mean of these is 3.

## When it is solved

TRL counts a completion without tokens in N, as you did; verl does not. Dr. GRPO divides by a
constant instead of |oᵢ|. In grpo_ref's experiment with tables, right answers become shorter under
this average. Answers that are labelled wrong do not grow longer than with a constant; answers that
are mistaken whatever their label says do.

The library function returns the weight of each token, m / (N |oᵢ|).

Next: `aggregation/fixed_length`, the average of Dr. GRPO.

## See also

* Source: Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL loss_type="grpo".
* `grpo_ref.aggregation.sequence_mean_token_mean` computes the same in this package. Look at it when
  you are done.
* Step 9 of the derivation, aggregation, explains the formula.
* `grpo-ref recipes grpo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run length_bias --quick` tests a claim about it.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/sequence_mean
"""

import numpy as np


def sequence_mean(values, mask):
    """Return the mean over the completions of the mean over their tokens."""
    raise NotImplementedError("aggregation/sequence_mean")
