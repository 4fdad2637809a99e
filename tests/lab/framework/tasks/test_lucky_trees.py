"""Payoffs with luck in them: the values are what is sampled on average."""

from grpo_ref.lab.framework.tasks.lucky_trees import lucky_trees
from grpo_ref.learning.rollout import sample


def test_sampled_rewards_have_the_exact_values():
    made = lucky_trees(4)
    logits = made.task.ref_logits[None]
    batch = sample(made.task, logits, prompts=300, group_size=50)
    assert abs(batch.rewards.mean() - made.values(logits)[0, batch.prompts[0]].mean()) < 0.02
