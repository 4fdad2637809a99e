"""Packed rows: all completions one after another in one row, as trainers without padding have them."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer


def packed(trial: Trial) -> Trial:
    """The batch as one row: (1, L) arrays, the advantages too, and which completion each token is of.

    What a completion leaves out in its middle, a tool's answer, stays in the row with mask 0; its padding
    does not. An empty completion has no token in the row, so only the number of completions tells of it.
    """
    there = _there(trial)
    rows, _ = np.nonzero(there)
    arrays = ("log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs", "mask")
    return replace(
        trial,
        **{name: getattr(trial, name)[there][None] for name in arrays},
        advantages=trial.advantages[rows][None],
        sequence_ids=rows[None],
        completions=len(trial.mask),
    )


def unpacked(answer: Answer, trial: Trial) -> Answer:
    """What was said of the packed row, with the gradient where the batch has its tokens; 0 in the padding."""
    if answer.gradient is None:
        return answer
    gradient = np.zeros_like(trial.mask)
    gradient[_there(trial)] = answer.gradient[0]
    return answer._replace(gradient=gradient)


def in_row(array: Floats, trial: Trial) -> Floats:
    """(1, L) an array (N, T) of the batch, as it is in the packed row."""
    row: Floats = array[_there(trial)][None]
    return row


def _there(trial: Trial) -> Bools:
    """(N, T) the tokens up to the last one that counts."""
    there: Bools = np.flip(np.maximum.accumulate(np.flip(trial.mask, -1), -1), -1) > 0
    return there
