"""The completion mask

Easy, 1 point. GRADING.md says how answers are graded.

A language model writes a completion token by token. It stops when it samples the end-of-sequence
token (eos), or when its budget of tokens is used up and the completion is cut off. So the
completions of a batch have different lengths, but an array needs rows of equal length. The rest of
each shorter row is filled with meaningless tokens, the padding.

Only tokens that the model sampled may be trained on. A mask marks these tokens: 1 for a sampled
token, 0 for padding. The eos token was sampled too, and the model has to learn when to stop, so its
mask is 1.

## Your task

Write `completion_mask(tokens, eos)`.

Return one mask value per token:

    mₜ = 1 if none of the tokens before t is eos, else 0

mₜ is the mask at position t of a row. It is 1 up to and including the first `eos` of the row, and 0
after it. A row without `eos` was cut off; its mask is 1 everywhere.

Tokens are numbers from a vocabulary of size V. Padding can be any token, `eos` included. Token 0 is
an ordinary token unless `eos` is 0.

| argument | meaning                           | shape  | values               |
| -------- | --------------------------------- | ------ | -------------------- |
| `tokens` | token ids, one row per completion | (N, T) | integers, 0 to V - 1 |
| `eos`    | id of the end-of-sequence token   | number | integer, 0 to V - 1  |

* T may be 0.
* N and V are at least 1.

Return an array of shape (N, T) of zeros and ones, as numbers or truth values. If T is 0, `tokens`
is an integer array of shape (N, 0).

## Examples

**One completion ends, one is cut off.** The eos token is 0.

    >>> completion_mask([[5, 0, 3], [5, 4, 3]], 0)
    [[1, 1, 0], [1, 1, 1]]

The first row ends at its second token, which still counts. The second row has no 0, so all of its
tokens count.

**Another eos token.** Here eos is 7, and the two tokens 0 are ordinary tokens.

    >>> completion_mask([[0, 7, 0, 7]], 7)
    [[1, 1, 0, 0]]

The first 7 ends the completion. The second 7 is padding.

**The completion ends at once.**

    >>> completion_mask([[2, 2, 5], [5, 6, 2]], 2)
    [[1, 0, 0], [1, 1, 1]]

No token comes before the first 2, so its mask is 1. In the second row, the last token is the eos
token and no padding follows.

## When it is solved

TRL's `mask_truncated_completions` goes one step further. It sets the whole row of a cut-off
completion to 0, so that the row is not trained on. DAPO calls this overlong filtering.

Next: `aggregation/token_mean`, the first of four averages that use this mask.

## See also

* Source: TRL GRPOTrainer._generate_and_score_completions.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/completion_mask
"""

import numpy as np


def completion_mask(tokens, eos):
    """Return 1 up to and including the first `eos` of each row, and 0 after it."""
    raise NotImplementedError("aggregation/completion_mask")
