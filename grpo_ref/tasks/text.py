"""Parts of the tasks with free text: any token may follow any other, and some prompts are held out."""

from collections.abc import Sequence

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.task import END

HELD_OUT = 0.2
"""Share of the prompts that is held out: training never samples them."""


def one_state(vocabulary: Sequence[str]) -> Integers:
    """Return (1, V) transitions of free text: the last token of the vocabulary ends it, the others do not.

    >>> one_state(["a", "b", ""])
    array([[ 0,  0, -1]])
    """
    transitions = np.zeros((1, len(vocabulary)), dtype=np.int64)
    transitions[:, -1] = END
    return transitions


def split_probs(prompts: int, seed: int) -> Floats:
    """Return (Q,) the probability of each prompt: 0 for a random share that is held out, else uniform.

    >>> split_probs(5, seed=0)
    array([0.25, 0.25, 0.  , 0.25, 0.25])
    """
    held_out = np.random.default_rng(seed).permutation(prompts)[: int(HELD_OUT * prompts)]
    probs = np.full(prompts, 1.0 / (prompts - len(held_out)))
    probs[held_out] = 0.0
    return probs
