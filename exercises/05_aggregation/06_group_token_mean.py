"""The group token mean

Easy, 1 point. GRADING.md says how answers are graded.

A batch has P prompts, and each prompt has a group of G completions. The token mean of the whole
batch gives every token the same weight, so a prompt with long completions counts more than a prompt
with short ones. If the completions of two prompts have 10 and 1000 tokens in total, the first
prompt has 10/1010 of the weight, which is less than 1 %.

verl and TRL use this average and call it DAPO. DAPO's paper averages over the tokens of each group
first, and then over the prompts. Each of the two prompts then has half of the weight.

## Your task

Write `group_token_mean(values, mask)`.

Return the average of DAPO's paper:

    1/P · Σ over the groups of (Σ m v / Σ m)

P is the number of groups. v stands for `values` and m for `mask`; padding does not count. The two
sums in the brackets run over all tokens of one group: its completions, which are axis 1, and their
positions, which are axis 2. A group without tokens adds 0 and still counts in P.

| argument | meaning                                 | shape     | values      |
| -------- | --------------------------------------- | --------- | ----------- |
| `values` | one per prompt, completion and position | (P, G, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding               | (P, G, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* P and G are at least 1.

Return a number; 0 if the batch has no token. If T is 0, both arguments are arrays of shape (P, G,
0).

## Examples

**Three tokens in one group, one in the other.** The values 99 are padding.

    >>> group_token_mean([[[6, 2], [4, 99]], [[8, 99], [99, 99]]],
    ...                  [[[1, 1], [1, 0]], [[1, 0], [0, 0]]])
    6.0

The first group has the mean (6 + 2 + 4) / 3 = 4. The second group has one token, 8, in two
completions. The mean of both is (4 + 8) / 2 = 6. The token mean of the whole batch would be 20 / 4
= 5.

**A group without tokens counts in P.**

    >>> group_token_mean([[[4, 2]], [[9, 9]]], [[[1, 1]], [[0, 0]]])
    1.5

The means of the groups are 3 and, by definition, 0: (3 + 0) / 2 = 1.5.

**One prompt.** With a single group, the result is the token mean.

    >>> group_token_mean([[[1, 2], [6, 9]]], [[[1, 1], [1, 0]]])
    3.0

(1 + 2 + 6) / 3 = 3. The mean of the two completions' means would be (1.5 + 6) / 2 = 3.75.

## When it is solved

SkyRL has this average as `loss_reduction=prompt_mean`. It needs whole groups: if a trainer splits a
group over several micro-batches, the parts of a batch that fit in memory, it must count the group's
tokens first.

The library function returns the weights m / (P Σ m), where the sum runs over the token's group.

Next: `objective/grpo_objective`, where all parts come together.

## See also

* Source: Yu et al. 2025, DAPO, eq. 8 and 12 (arXiv:2503.14476).
* `grpo_ref.aggregation.group_token_mean` computes the same in this package. Look at it when you are
  done.
* Step 9 of the derivation, aggregation, explains the formula.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/group_token_mean
"""

import numpy as np


def group_token_mean(values, mask):
    """Return the mean over the groups of the mean over the tokens of each group."""
    raise NotImplementedError("aggregation/group_token_mean")
