"""Where does a completion end?

Easy, 1 point. GRADING.md says how answers are graded.

A language model answers a prompt token by token until it picks a special token, the end of the
sequence (eos), or until its budget of tokens is used up and the answer, the completion, is cut off.
The completions of a batch have different lengths, but an array needs rows of one length; so the
shorter ones are filled up with tokens that mean nothing, the padding. A mask says which tokens the
model chose itself. Only those may be trained on. The end token is one of them: stopping in time is
a choice, too, and has to be learned.

## Your task

Write `completion_mask(tokens, eos)`.

Write `completion_mask(tokens, eos)`. In each row it gives 1 to every token up to and including the
first `eos`, and 0 to all tokens after it:

    mₜ = 1 if none of the tokens before t is eos, else 0

A row without `eos` was cut off and is 1 everywhere. Only `eos` says where a row ends: what stands
after it may be any token, `eos` itself included, and 0 is a token like any other.

* `tokens`: one row per completion, the numbers of its tokens in a vocabulary of V; (N, T);
  integers, 0 to V - 1.
* `eos`: the number of the end-of-sequence token; number; integer, 0 to V - 1.

* T may be 0.
* N and V are at least 1.

(N, T) of 0 and 1, as numbers or truth values.

## Examples

    >>> completion_mask([[5, 0, 3], [5, 4, 3]], 0)
    [[1, 1, 0], [1, 1, 1]]

The first row ends at its second token, which still counts; the second row has no 0, so it was cut
off and counts as a whole.

## When it is solved

TRL's `mask_truncated_completions` goes further and sets the whole row of a completion that was cut
off to 0; DAPO calls this overlong filtering.

## See also

* Source: TRL `GRPOTrainer._generate_and_score_completions`.
* The notebook 05_three_pictures_of_W.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade aggregation/completion_mask
"""

import numpy as np


def completion_mask(tokens, eos):
    """1 up to and including the first end-of-sequence token, 0 after it."""
    raise NotImplementedError("aggregation/completion_mask")
