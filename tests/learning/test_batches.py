"""A batch made ready: rejected groups are drawn anew, or left out."""

from dataclasses import replace

import numpy as np
import pytest
from small_training import finish

from grpo_ref import DAPO, config_for, iter_train, policy_loss
from grpo_ref.learning.batches import slices
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import initial_state
from grpo_ref.tasks.arithmetic import arithmetic
from grpo_ref.tasks.bandit import bandit


def test_resampling_fills_the_batch_and_the_rest_is_left_out():
    kept = {n: finish(arithmetic(), DAPO, resamples=n, updates=1)[-1].metrics["kept_groups"] for n in (0, 5)}
    assert kept[0] < kept[5]
    all_dead = finish(bandit(arms=1), DAPO, updates=1)[-1]
    assert all_dead.metrics["kept_groups"] == all_dead.metrics["grad_norm"] == all_dead.metrics["loss"] == 0.0


def test_groups_that_are_left_out_do_not_count_in_the_denominator():
    """DAPO without resampling: one SGD step by hand, with the tokens of the rejected groups masked out."""
    task = arithmetic()
    sizes = {"updates": 1, "prompts": 20, "group_size": 4}
    config = config_for(task, **sizes, optimizer="sgd", learning_rate=1.0, resamples=0)
    start = initial_state(task, config)
    policy = policy_of(start.params)
    batch = draw(task, policy, [np.random.default_rng([0, 0])], prompts=20, group_size=4)
    kept = DAPO.keep(batch)
    assert 0 < kept.sum() < kept.size
    advantages = DAPO.advantage(replace(batch, rewards=DAPO.reward(batch)))
    token_log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    by_hand = policy_loss(token_log_probs, advantages, batch.mask & kept[..., None, None], recipe=DAPO)
    gradient = pull_back(by_hand.gradient, batch.states, batch.tokens, policy.probs)
    (update,) = iter_train(task, DAPO, config)
    np.testing.assert_array_equal(update.state.params, start.params - gradient)


@pytest.mark.parametrize(
    ("count", "parts", "lengths"), [(6, 3, [2, 2, 2]), (7, 3, [2, 2, 3]), (2, 5, [1, 1])]
)
def test_slices_cover_everything_and_none_is_empty(count, parts, lengths):
    found = slices(count, parts)
    assert [len(range(count)[part]) for part in found] == lengths
    assert [one for part in found for one in range(count)[part]] == list(range(count))
