"""Exact accuracy and entropy of a policy on sums of digits, computed from its table."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.tasks.digit_sums import labelled_answers
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.task import Task
from grpo_ref.tasks.arithmetic import EOS


class Learner(Protocol):
    """An object with a table of logits."""

    @property
    def params(self) -> Floats:
        """(S, N, V) logits."""


def exact(task: Task) -> dict[str, Callable[[Learner], Floats]]:
    """Return the measures "correct" and "entropy" of a state, (S,) each, for `curves`.

    Args:
      task: task made by `digit_sums`.

    Returns:
      "correct", the fraction of right completions by the labels, and "entropy" in nats per token. Both
      are expectations over prompts and completions at temperature 1.
    """
    tokens, mask = labelled_answers(task)
    places = np.arange(task.max_length)
    rows = task.starts[:, None] + np.where(mask, places, 0)

    def correct(state: Learner) -> Floats:
        said = policy_of(state.params).log_probs[:, rows, tokens]
        share: Floats = np.exp(np.where(mask, said, 0.0).sum(-1)).mean(-1)
        return share

    def entropy(state: Learner) -> Floats:
        policy = policy_of(state.params)
        table = (len(state.params), -1, task.max_length)
        goes_on = 1.0 - policy.probs[..., EOS].reshape(table)
        reached = np.cumprod(np.concatenate([np.ones_like(goes_on[..., :1]), goes_on[..., :-1]], -1), -1)
        mean: Floats = (reached * policy.entropies().reshape(table)).sum((-2, -1)) / reached.sum((-2, -1))
        return mean

    return {"correct": correct, "entropy": entropy}
