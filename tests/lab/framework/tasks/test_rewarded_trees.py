"""Short completions with rewards: the verifier gives each completion the reward of its number."""

import numpy as np

from grpo_ref.lab.framework.tasks.rewarded_trees import rewarded_trees
from grpo_ref.learning.rollout import sample


def test_sampled_rewards_have_the_exact_mean():
    made = rewarded_trees(3)
    logits = made.task.ref_logits[None]
    batch = sample(made.task, logits, prompts=400, group_size=50)
    exact = (np.exp(made.log_probs(logits)) * made.rewards).sum(-1)[0]
    assert abs(batch.rewards.mean() - exact[batch.prompts[0]].mean()) < 0.01


def test_the_length_can_be_told():
    assert rewarded_trees(3, length=1).task.max_length == 1


def test_both_best_policies_are_one_where_there_is_one_token():
    made = rewarded_trees(3, length=1)
    np.testing.assert_allclose(made.best(), made.best_by_token())


def test_the_best_policy_is_better_than_the_one_by_token_and_the_reference():
    made = rewarded_trees(3, length=3)
    ref = made.log_probs(made.task.ref_logits)

    def objective(log_probs):
        return (np.exp(log_probs) * (made.rewards - made.weight * (log_probs - ref))).sum(-1)

    best, by_token = objective(made.best()), objective(made.best_by_token())
    np.testing.assert_allclose(np.exp(made.best_by_token()).sum(-1), 1.0)
    assert (best > by_token).all()
    assert (by_token > objective(ref)).all()
