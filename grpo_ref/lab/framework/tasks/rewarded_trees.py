"""Short completions with a KL penalty, for which the best regularized policy is known exactly."""

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
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import Task

FAMILY = (
    "2 to 4 prompts, completions of 2 or 3 tokens of 3 or 4, every beginning a state of its own; every"
    " completion has a reward, uniform from 0 to 1. The reference has random logits with a standard deviation"
    " of 0.5 to 1.5. The weight of the KL is 0.1 to 1 per nat (log-uniform)."
)


class RewardedTrees(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criterion "reward".
      rewards: (kinds, M) reward of each completion.
      weight: weight of the penalty, in units of reward per nat.
    """

    task: Task
    rewards: Floats
    weight: float

    def log_probs(self, logits: Floats) -> Floats:
        """Return (..., kinds, M) the log-probability of each completion, in nats."""
        return completion_log_probs(logits, kinds=len(self.rewards), length=self.task.max_length)

    def best(self) -> Floats:
        """Return (kinds, M) log-probabilities of the best policy under reward - weight KL(policy || ref).

        π(o) = ref(o) exp(r(o) / weight) / Z
        """
        best = self.log_probs(self.task.ref_logits) + self.rewards / self.weight
        normalized: Floats = best - np.log(np.exp(best).sum(-1, keepdims=True))
        return normalized

    def best_by_token(self) -> Floats:
        """Return (kinds, M) log-probabilities of the best policy if a token is charged only for its own KL.

        π(a|s) = ref(a|s) exp(Q(s, a) / weight) / Z(s),   Q the expected reward under π
        """
        kinds, vocabulary = len(self.rewards), len(self.task.vocabulary)
        ref = log_softmax(self.task.ref_logits).reshape(kinds, -1, vocabulary)
        worth, end, chosen = self.rewards, ref.shape[1], []
        for nodes in [vocabulary**t for t in range(self.task.max_length)][::-1]:
            worth = worth.reshape(kinds, nodes, vocabulary)
            chosen.append(log_softmax(ref[:, end - nodes : end] + worth / self.weight))
            worth, end = (np.exp(chosen[-1]) * worth).sum(-1), end - nodes
        logits = np.concatenate(chosen[::-1], axis=1).reshape(-1, vocabulary)
        return self.log_probs(logits)


def rewarded_trees(seed: int, *, length: int = 0) -> RewardedTrees:
    """Sample a task with rewards, a reference and a weight of the penalty; the length is sampled if 0."""
    generator = np.random.default_rng([seed, 17])
    kinds, vocabulary, tokens = (int(generator.integers(low, high)) for low, high in ((2, 5), (3, 5), (2, 4)))
    weight = float(np.exp(generator.uniform(np.log(0.1), np.log(1.0))))
    length = length or tokens
    rewards, nodes = generator.random((kinds, vocabulary**length)), node_count(vocabulary, length)
    task = Task(
        name="rewarded_trees",
        vocabulary=tuple("abcd"[:vocabulary]),
        transitions=tree_transitions(kinds, vocabulary, length),
        prompts=tuple(f"{kind}:" for kind in range(kinds)),
        starts=np.arange(kinds) * nodes,
        prompt_probs=np.full(kinds, 1.0 / kinds),
        max_length=length,
        ref_logits=generator.uniform(0.5, 1.5) * generator.normal(size=(kinds * nodes, vocabulary)),
        verify=partial(_reward, rewards, vocabulary),
        criteria=("reward",),
        weights=np.ones(1),
    )
    return RewardedTrees(task, rewards, weight)


def _reward(rewards: Floats, vocabulary: int, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    return rewards[prompts[..., None], numbered(tokens, vocabulary)][..., None]
