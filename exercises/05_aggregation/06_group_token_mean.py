"""Every prompt counts the same

Easy, 1 point. GRADING.md says how answers are graded.

A batch has P prompts, and for each prompt a group of G answers, the completions. The mean over all
tokens of the batch, `aggregation/token_mean`, gives every token the same weight. A prompt whose
answers are long then counts more than a prompt whose answers are short: of two prompts with answers
of 10 and of 1000 tokens, the first has 10/1010 of the weight, less than a hundredth. verl and TRL
average like this and call it DAPO. The paper of DAPO takes the mean over the tokens of each group
first, and then the mean over the prompts, so that each of the two prompts has half of the weight.

## Your task

Write `group_token_mean(values, mask)`.

Write `group_token_mean(values, mask)`, the average of the paper:

    1/P · Σ over the groups of (Σ m v / Σ m)

The two sums in the brackets run over the tokens of one group, which are the last two axes. v are
the values and m is the mask, which says what is a token. Where m is 0 stands padding, and what
`values` holds there never matters, be it NaN or infinity. A group without any token adds 0, and
still counts in P.

| argument | meaning                   | shape     | values      |
| -------- | ------------------------- | --------- | ----------- |
| `values` | one per token             | (P, G, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding | (P, G, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* P and G are at least 1.

A number; 0 if there is no token.

## Examples

    >>> group_token_mean([[[6, 2], [4, 99]], [[8, 99], [99, 99]]], [[[1, 1], [1, 0]], [[1, 0], [0, 0]]])
    6.0

The first group has the mean (6 + 2 + 4) / 3 = 4, the second 8, and (4 + 8) / 2 = 6. The mean over
the batch would be 20 / 4 = 5.

## When it is solved

SkyRL offers this average as `prompt_mean`. With one prompt it is the same as `token_mean`. The
function of this package gives the weights m / (P Σ m), to be multiplied by the values and summed.

## See also

* Source: Yu et al. 2025, DAPO, eq. 8 and 12 (arXiv:2503.14476).
* `grpo_ref.aggregation.group_token_mean` is the same function in this package. Look at it when you
  are done.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/group_token_mean
"""

import numpy as np


def group_token_mean(values, mask):
    """Mean over the tokens of each group, then over the groups."""
    raise NotImplementedError("aggregation/group_token_mean")
