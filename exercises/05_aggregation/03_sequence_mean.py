"""Every answer counts the same

Easy, 1 point. GRADING.md says how answers are graded.

A training step has one number per token that the model wrote and needs one number for the whole
batch. GRPO averages twice: first over the tokens of each answer (each completion), then over the
completions. So every completion counts the same, however long it is, and a token of a long
completion counts less than one of a short completion. The consequence is known as length bias: in a
long wrong answer each token is hardly blamed, so wrong answers tend to grow longer during training.

## Your task

Write `sequence_mean(values, mask)`.

Write `sequence_mean(values, mask)`, the mean over completions of the mean over their tokens:

    1/N Σᵢ ( 1/|oᵢ| Σₜ mᵢₜ vᵢₜ )

N is the number of completions, which are the rows; v are the values, m is the mask, which says what
is a token; |oᵢ| is the number of tokens of completion i, the sum of its row of the mask. Where m is
0 stands padding: it only fills a row up, is not counted, and what `values` holds there never
matters, be it NaN or infinity. A completion without any token adds 0 to the outer sum and is still
one of the N. A token whose value is 0 is a token like any other.

| argument | meaning                               | shape  | values      |
| -------- | ------------------------------------- | ------ | ----------- |
| `values` | one per token, one row per completion | (N, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding             | (N, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.

A number; 0 if there is no token at all.

## Examples

    >>> sequence_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    4.0

The rows have the means (1 + 2 + 3) / 3 = 2 and 6 / 1 = 6; the mean of these is 4. The two 99 are
padding.

## When it is solved

TRL counts a completion without tokens as one of the N, as here; verl leaves it out of N. Dr. GRPO
divides by a constant instead of |oᵢ|, which takes the length bias away: see
`aggregation/fixed_length`. The function of this package gives the weight of each token, m / (N
|oᵢ|).

## See also

* Source: DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.
* `grpo_ref.sequence_mean_token_mean` is the same function in this package. Look at it when you are
  done.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/sequence_mean
"""

import numpy as np


def sequence_mean(values, mask):
    """Mean over completions of the mean over their tokens."""
    raise NotImplementedError("aggregation/sequence_mean")
