"""A distribution of tasks with short completions and noisy rewards, in which all state values are known."""

from functools import partial
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.trees import (
    completion_log_probs,
    node_count,
    numbered,
    tree_transitions,
)
from grpo_ref.learning.task import Task

ALIKE = 20
"""Number of prompts of each kind. The policy sees the kind and not the prompt."""
FAMILY = (
    f"Questions of 2 to 12 kinds, {ALIKE} prompts of each kind, which look the same to the policy. A"
    " completion has 2 or 3 tokens of 3 to 6, and every beginning is a state of its own. Each completion pays"
    " 1 for a share of the prompts of its kind and 0 for the others, at random; in logits these shares have a"
    " mean of -3 to 0 and a standard deviation of 0.5 to 2. The policy starts with random logits."
)


class LuckyTrees(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criterion "payoff".
      payoffs: (kinds, ALIKE, M) reward of each completion for each prompt, 0 or 1.
    """

    task: Task
    payoffs: Floats

    def values(self, logits: Floats) -> Floats:
        """Return (..., Q) the expected reward of each prompt, for logits (..., N, V)."""
        kinds, length = len(self.payoffs), self.task.max_length
        probs = np.exp(completion_log_probs(logits, kinds=kinds, length=length))
        values: Floats = np.einsum("...km,kam->...ka", probs, self.payoffs)
        return values.reshape(*logits.shape[:-2], -1)


def lucky_trees(seed: int) -> LuckyTrees:
    """Sample a task of trees in which the rewards have much noise."""
    generator = np.random.default_rng([seed, 11])
    kinds, vocabulary, length = (
        int(generator.integers(low, high)) for low, high in ((2, 13), (3, 7), (2, 4))
    )
    odds = generator.uniform(-3.0, 0.0) + generator.uniform(0.5, 2.0) * generator.normal(
        size=(kinds, 1, vocabulary**length)
    )
    payoffs = (generator.random((kinds, ALIKE, vocabulary**length)) < 1.0 / (1.0 + np.exp(-odds))).astype(
        float
    )
    own, nodes = np.repeat(np.arange(kinds), ALIKE), node_count(vocabulary, length)
    task = Task(
        name="lucky_trees",
        vocabulary=tuple("abcdef"[:vocabulary]),
        transitions=tree_transitions(kinds, vocabulary, length),
        prompts=tuple(f"{kind}:" for kind in own),
        starts=own * nodes,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=length,
        ref_logits=generator.normal(size=(kinds * nodes, vocabulary)),
        verify=partial(_pays, payoffs.reshape(len(own), -1)),
        criteria=("payoff",),
        weights=np.ones(1),
    )
    return LuckyTrees(task, payoffs)


def _pays(payoffs: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    vocabulary = round(payoffs.shape[-1] ** (1.0 / tokens.shape[-1]))
    return payoffs[prompts[..., None], numbered(tokens, vocabulary)][..., None]
