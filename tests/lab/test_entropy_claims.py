"""Claims about the entropy of networks: what they measure is what samples of the networks show."""

from types import SimpleNamespace

import numpy as np

from grpo_ref.lab.claims import entropy_law_network, entropy_tokens_network, temperature_network
from grpo_ref.lab.claims.temperature import ANY, expected_reward
from grpo_ref.lab.claims.temperature import VARIANTS as COPIES
from grpo_ref.lab.framework.network import sums
from grpo_ref.lab.framework.tasks.forks import VARIANTS, forks
from grpo_ref.learning.rollout import draw, sample

SEED, MANY = 3, 6000


def test_the_watched_share_and_entropy_are_those_of_samples():
    task, policy = sums(SEED, copies=5)
    state = SimpleNamespace(params=policy.weights[None])
    measures = entropy_law_network.watched(task, policy, seeds=1, seed=SEED)
    actor = policy.at(state.params, 1.0)
    batch = draw(task, actor, [np.random.default_rng(1)], prompts=MANY, group_size=1)
    said = actor.visit(task, batch.prompts, batch.states, batch.tokens)
    np.testing.assert_allclose(measures["correct"](state), batch.rewards.mean(), atol=0.015)
    # The mean of -log π over the sampled tokens estimates the same entropy.
    np.testing.assert_allclose(measures["entropy"](state), -said.log_probs[batch.mask].mean(), atol=0.15)


def test_a_network_on_forks_reads_a_different_number_for_each_question_and_begins_as_the_table():
    lengths = entropy_tokens_network.LENGTHS
    task, policy = entropy_tokens_network.drawn(SEED)
    assert len(np.unique(task.prompt_tokens, axis=0)) == len(task.prompts) // VARIANTS
    assert lengths[0] <= task.max_length <= lengths[1]
    actor = policy.at(policy.start(task, 1), 1.0)
    network = draw(task, actor, [np.random.default_rng(1)], prompts=MANY, group_size=1).rewards.mean()
    table = forks(SEED, stubborn=0, lengths=lengths)
    begun = sample(table, table.ref_logits[None], prompts=MANY, group_size=1, seed=1).rewards.mean()
    np.testing.assert_allclose(network, begun, atol=0.08)


def test_the_exact_share_of_right_answers_is_that_of_samples():
    (task, policy), answers, _ = temperature_network.drawn(SEED, ANY)
    exact = expected_reward(temperature_network.log_probs((task, policy), policy.weights[None]), answers)
    actor = policy.at(policy.start(task, 1), 1.0)
    batch = draw(task, actor, [np.random.default_rng(1)], prompts=MANY, group_size=1)
    given = batch.tokens[0, :, 0]
    right = (given[:, None] == answers[batch.prompts[0] // COPIES]).all(-1).any(-1)
    np.testing.assert_allclose(exact, right.mean(), atol=0.02)
