"""A task of many steps, of which a prompt needs more or fewer: difficulty is the number of steps.

Prompt "3:" starts at step 3 and needs steps 3, 2 and 1. In every step one of the moves is right, always the
same one; a prompt is solved if all of its steps are. Hard prompts go through the steps of the easier ones
unless every prompt is given steps of its own.
"""

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.tasks.task import END, Task

RIGHT = 0
"""The right move; a policy that starts uniform has no hint of it."""


def chain(*, longest: int = 10, moves: int = 4, hardest_share: float, shared: bool = True) -> Task:
    """One prompt for each number of steps.

    Args:
      longest: steps of the hardest prompt; the easiest has one.
      moves: choices in every step, so a prompt of k steps is solved at first with a chance of moves to the
        power of -k.
      hardest_share: how often the hardest prompt is drawn; the others share the rest evenly.
      shared: whether prompts share their last steps, or have nothing in common.

    Returns:
      A task with one criterion, "solved".
    """
    steps = np.arange(longest if shared else longest**2)
    transitions = np.where(steps % longest == 0, END, steps - 1)
    lengths = np.arange(1, longest + 1)
    probs = np.full(longest, (1.0 - hardest_share) / (longest - 1))
    probs[-1] = hardest_share
    return Task(
        name="chain",
        vocabulary=tuple("abcdefghij"[:moves]),
        transitions=np.repeat(transitions[:, None], moves, axis=1),
        prompts=tuple(f"{length}:" for length in lengths),
        starts=(lengths - 1) * (1 if shared else longest + 1),
        prompt_probs=probs,
        max_length=longest,
        ref_logits=np.zeros((len(steps), moves)),
        verify=_solved,
        criteria=("solved",),
        weights=np.ones(1),
        settings={"updates": 75, "prompts": 8, "group_size": 8, "learning_rate": 0.1},
    )


def _solved(prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    solved: Floats = ((tokens == RIGHT) | ~mask).all(-1)[..., None].astype(np.float64)
    return solved


def pass_rates(task: Task, logits: Floats) -> Floats:
    """How likely each prompt of a `chain` is solved: the product over its steps, nothing sampled.

    Args:
      task: a chain.
      logits: (..., N, V).

    Returns:
      (..., Q).
    """
    right = log_softmax(logits)[..., RIGHT]
    steps = [start - np.arange(length) for length, start in enumerate(task.starts, start=1)]
    rates: Floats = np.exp(np.stack([right[..., mine].sum(-1) for mine in steps], axis=-1))
    return rates
