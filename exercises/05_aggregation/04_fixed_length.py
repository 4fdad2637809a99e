"""A constant instead of the length

Easy, 1 point. GRADING.md says how answers are graded.

GRPO divides the sum over the tokens of an answer (a completion) by the length of that answer. So in
a long wrong answer each token is blamed little, in a short one much, and wrong answers grow longer
during training. Dr. GRPO divides by the same constant for all completions, however long they are:
the budget, the largest number of tokens that the model is allowed to write. Then a token's weight
does not depend on the length of the completion it stands in.

## Your task

Write `fixed_length_mean(values, mask, max_length)`.

Write `fixed_length_mean(values, mask, max_length)`:

    1/N Σᵢ ( 1/L Σₜ mᵢₜ vᵢₜ ),    L = max_length for every completion

N is the number of completions, which are the rows; v are the values, m is the mask, which says what
is a token. Where m is 0 stands padding: it only fills a row up, and what `values` holds there never
matters, be it NaN or infinity. A completion without any token adds 0 and is still one of the N. L
is divided by as it is given, whether the rows are shorter, as in a batch without long completions,
or longer.

* `values`: one per token, one row per completion; (N, T); −1e6 to 1e6.
* `mask`: 1 on tokens, 0 on padding; (N, T); 0 or 1.
* `max_length`: L, the budget in tokens; it may be smaller or larger than T; number; integer, 1 to
  5000.

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.
* Raise a ValueError for each of these inputs: `max_length` is 0 or -1.

A number; 0 if there is no token at all.

* Raise ValueError if max_length is less than 1.

## Examples

    >>> fixed_length_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]], 4)
    1.5

The sums 6 and 6 of the rows, each divided by 4, have the mean 1.5. The two 99 are padding.

## When it is solved

TRL's `loss_type="dr_grpo"` changes only this; for Dr. GRPO the advantages must also be centered
only, with `scale_rewards="none"`. verl's `seq-mean-token-sum-norm` divides by T unless
`loss_scale_factor` is set. The function of this package gives the weight of each token, m / (N L).

## See also

* Source: Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `loss_type="dr_grpo"`.
* `grpo_ref.fixed_length` is the same function in this package. Look at it when you are done.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/fixed_length
"""

import numpy as np


def fixed_length_mean(values, mask, max_length):
    """Sum over tokens, divided by completions times the budget."""
    raise NotImplementedError("aggregation/fixed_length")
