"""Short completions with rewards: the verifier gives each completion the reward of its number."""

import numpy as np

from grpo_ref.experiments.framework.tasks.rewarded_trees import rewarded_trees
from grpo_ref.learning.rollout import sample


def test_sampled_rewards_have_the_exact_mean():
    made = rewarded_trees(3)
    logits = made.task.ref_logits[None]
    batch = sample(made.task, logits, prompts=400, group_size=50)
    exact = (np.exp(made.log_probs(logits)) * made.rewards).sum(-1)[0]
    assert abs(batch.rewards.mean() - exact[batch.prompts[0]].mean()) < 0.01


def test_the_length_can_be_told():
    assert rewarded_trees(3, length=1).task.max_length == 1
