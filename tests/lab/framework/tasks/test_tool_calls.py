"""Episodes with calls of tools: sampled against exact, and what the tools' words can change."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.tool_calls import ERROR, drawn_tools, episodes, trained_agent
from grpo_ref.recipes import GRPO

SEED = 5
FREE = replace(GRPO, kl_coef=0.0)


def batch_of(**fixed):
    task = drawn_tools(SEED, **fixed)
    policy = task.policy(task.start(1))
    return task, policy, episodes(task, policy, [np.random.default_rng(1)], 4000, 5)


@pytest.mark.parametrize("calls", [1, 3])
def test_sampled_and_exact_rewards_agree(calls):
    task, policy, batch = batch_of(calls=calls)
    np.testing.assert_allclose(batch.rewards.mean(), task.expected_reward(policy), atol=0.015)
    np.testing.assert_allclose(batch.turn_rewards[..., -2].mean(), task.success(policy).mean(), atol=0.015)


def test_a_policy_that_knows_everything_fails_only_with_its_tools():
    """Calls succeed with probability 1 - fails; after an error the best guess is right for 1 fact in 5."""
    task = drawn_tools(SEED, calls=2)
    params = task.start(1)
    question = np.arange(len(task.useful))
    for call in range(2):
        params[0, task.call_place(question, call, np.array(1)), task.useful[:, call]] = 50.0
    words = np.arange(ERROR)
    params[0, task.answer_place(question[:, None], words), task.answers] = 50.0
    params[0, task.answer_place(question, np.array(ERROR)), task.answers[:, 0]] = 50.0
    works = (1.0 - task.fails) ** 2
    np.testing.assert_allclose(task.expected_reward(task.policy(params)), works + (1.0 - works) / 5)


def test_the_tools_words_are_no_turns_of_the_policy():
    task, _, batch = batch_of(calls=2, observation_length=3)
    np.testing.assert_array_equal(batch.turn_ids[0, 0, 0], [0, -1, -1, -1, 1, -1, -1, -1, 2])
    assert batch.states.max() < len(task.logits)
    tools_write_an_error = batch.tokens[..., 5] == ERROR
    np.testing.assert_array_equal(tools_write_an_error, batch.turn_rewards[..., 1] == 0.0)


def test_gradients_of_features_are_sums_over_places():
    task = drawn_tools(SEED)
    of_logits = np.random.default_rng(2).normal(size=(1, *task.logits.shape))
    move = np.random.default_rng(3).normal(size=task.start(1).shape)
    moved = task.policy(task.start(1) + 1e-6 * move).log_probs - task.policy(task.start(1)).log_probs
    centered = of_logits - of_logits.mean(
        -1, keepdims=True
    )  # log-probabilities differ from logits by a constant
    slope = (centered * moved).sum() / 1e-6
    np.testing.assert_allclose(slope, (task.gradient(centered) * move).sum(), rtol=1e-4)


@pytest.mark.parametrize("shared", [True, False])
def test_the_mask_matters_only_where_places_share_weights(shared):
    runs = [
        trained_agent(recipe=FREE, learning_rate=0.1, seeds=1, seed=SEED, masked=masked, shared=shared)[
            "reward"
        ]
        for masked in (True, False)
    ]
    assert np.allclose(*runs, atol=1e-6) != shared
