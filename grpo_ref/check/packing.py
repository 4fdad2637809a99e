"""Pack all completions of a batch into one row without padding, as some trainers do, and unpack gradients."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.check.batches import LOG_PROBS, Trial
from grpo_ref.check.frameworks import Answer


def packed(trial: Trial) -> Trial:
    """Return the batch as one row: arrays and advantages (1, L), and the index of each token's completion.

    Padding is dropped. A hole in the mask, such as a tool's output, stays in the row with mask 0. An empty
    completion has no token in the row; only the number of completions shows that it exists.
    """
    kept = _up_to_last_token(trial)
    rows, _ = np.nonzero(kept)
    arrays = (*LOG_PROBS, "mask")
    return replace(
        trial,
        **{name: getattr(trial, name)[kept][None] for name in arrays},
        advantages=trial.advantages[rows][None],
        sequence_ids=rows[None],
        completions=len(trial.mask),
    )


def unpacked(answer: Answer, trial: Trial) -> Answer:
    """Return the result on a packed row with its gradient as (N, T), 0 on the padding."""
    if answer.gradient is None:
        return answer
    gradient = np.zeros_like(trial.mask)
    gradient[_up_to_last_token(trial)] = answer.gradient[0]
    return answer._replace(gradient=gradient)


def in_row(array: Floats, trial: Trial) -> Floats:
    """Return an array (N, T) of the batch as one packed row (1, L)."""
    row: Floats = array[_up_to_last_token(trial)][None]
    return row


def _up_to_last_token(trial: Trial) -> Bools:
    """Return (N, T), true up to the last token of each completion, holes included."""
    kept: Bools = np.flip(np.maximum.accumulate(np.flip(trial.mask, -1), -1), -1) > 0
    return kept
