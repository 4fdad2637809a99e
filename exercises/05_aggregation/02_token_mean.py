"""Every token counts the same

Easy, 1 point. GRADING.md says how answers are graded.

A training step has one number per token that the model wrote, for example how well it did there,
and needs one number for the whole batch: the average. But which one? The answers of the model, the
completions, have different lengths. The token mean counts every token of the batch the same, so a
completion of 1000 tokens counts a hundred times as much as one of 10. It was introduced because
averaging each completion by itself makes the tokens of long answers count too little: neither good
reasoning nor empty talk in them was learned from as it should be.

## Your task

Write `token_mean(values, mask)`.

Write `token_mean(values, mask)`, the mean of `values` over all tokens of the batch:

    Σ m v / Σ m

Both sums run over all rows and columns. v are the values, one row per completion; m is the mask,
which says what is a token. Where m is 0 stands padding: it only fills a row up, is not counted, and
what `values` holds there never matters, be it NaN or infinity. If the batch has no token at all,
the result is 0.

| argument | meaning                               | shape  | values      |
| -------- | ------------------------------------- | ------ | ----------- |
| `values` | one per token, one row per completion | (N, T) | −1e6 to 1e6 |
| `mask`   | 1 on tokens, 0 on padding             | (N, T) | 0 or 1      |

* `values` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* T may be 0.
* N is at least 1.

A number; 0 if there is no token.

## Examples

    >>> token_mean([[1, 2, 3], [6, 99, 99]], [[1, 1, 1], [1, 0, 0]])
    3.0

Four tokens: (1 + 2 + 3 + 6) / 4. The two 99 are padding.

## When it is solved

This is verl's default, `token-mean`, and TRL's `loss_type="bnpo"`. TRL's `loss_type="dapo"` counts
the tokens of a whole training step instead, which may consist of several batches. The function of
this package gives the weights m / Σ m, to be multiplied by the values and summed. The paper of
DAPO, from which the trainers took this average, divides by the tokens of each group instead, see
`aggregation/group_token_mean`.

## See also

* Source: verl `token-mean`; TRL `bnpo`; after DAPO (arXiv:2503.14476).
* `grpo_ref.token_mean` is the same function in this package. Look at it when you are done.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/token_mean
"""

import numpy as np


def token_mean(values, mask):
    """Mean over all tokens of the batch."""
    raise NotImplementedError("aggregation/token_mean")
