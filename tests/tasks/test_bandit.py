"""The bandit: the truth is known, and the sampled gradients agree with it."""

import itertools

import numpy as np
import pytest

from grpo_ref.advantages import group_centered, leave_one_out
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.tasks.bandit import bandit_with, exact_policy_gradient, expected_reward

MEANS = np.array([[1.0, 0.0, 0.5], [0.2, 0.9, 0.4]])

LOGITS = np.array([[0.3, -0.2, 0.1], [0.0, 0.5, -1.0]])


def test_expected_reward_by_hand():
    """Uniform policy: the mean of (1 + 0 + 1/2)/3 and (0.2 + 0.9 + 0.4)/3 is 1/2."""
    assert expected_reward(MEANS, np.zeros((2, 3))) == pytest.approx(0.5, abs=1e-15)


def test_exact_gradient_is_the_derivative_of_the_expected_reward():
    gradient = exact_policy_gradient(MEANS, LOGITS, temperature=0.7)
    for index in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[index] = 1e-5
        up, down = (expected_reward(MEANS, LOGITS + s, temperature=0.7) for s in (step, -step))
        assert gradient[index] == pytest.approx((up - down) / 2e-5, rel=1e-8, abs=1e-11)


def sampled_gradient(arms, advantages, logits):
    """Gradient of mean(A log π) for chosen arms (..., P=contexts, G), pulled back to the logits."""
    probs = policy_of(logits).probs
    states = np.broadcast_to(np.arange(len(logits))[:, None, None], (*arms.shape, 1))
    weights = advantages[..., None] / (arms.shape[-1] * arms.shape[-2])
    table = np.broadcast_to(probs, (*arms.shape[:-2], *probs.shape))
    return pull_back(weights, states, arms[..., None], table)


def expected_sampled_gradient(advantage, group):
    """The sampled gradient averaged over every possible group of every context, by its probability."""
    total = np.zeros_like(LOGITS)
    probs = policy_of(LOGITS).probs
    for members in itertools.product(range(3), repeat=group):
        arms = np.tile(members, (2, 1))
        gradient = sampled_gradient(arms, advantage(np.take_along_axis(MEANS, arms, 1)), LOGITS)
        total += probs[:, members].prod(1, keepdims=True) * gradient
    return total


@pytest.mark.parametrize("group", [2, 3])
def test_leave_one_out_is_unbiased_by_enumeration(group):
    exact = exact_policy_gradient(MEANS, LOGITS)
    np.testing.assert_allclose(expected_sampled_gradient(leave_one_out, group), exact, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("group", [2, 3])
def test_centering_shrinks_the_gradient_by_one_minus_one_over_g(group):
    """The group mean contains the completion itself: E = (G-1)/G times the truth."""
    exact = exact_policy_gradient(MEANS, LOGITS) * (group - 1) / group
    np.testing.assert_allclose(
        expected_sampled_gradient(group_centered, group), exact, rtol=1e-12, atol=1e-15
    )


def test_sampled_gradient_agrees_with_the_exact_one():
    """20 000 independent runs of the sampler: every entry within 5 standard errors of the truth."""
    runs, group = 20_000, 4
    task = bandit_with(MEANS)
    table = np.broadcast_to(policy_of(LOGITS).probs, (runs, 2, 3))
    prompts = np.broadcast_to(np.arange(2), (runs, 2))
    batch = rollout(task, table, prompts, np.random.default_rng(1).random((runs, 2, group, 1)))
    gradients = sampled_gradient(batch.tokens[..., 0], leave_one_out(batch.rewards), LOGITS)
    error = gradients.std(0, ddof=1) / np.sqrt(runs)
    assert (np.abs(gradients.mean(0) - exact_policy_gradient(MEANS, LOGITS)) < 5 * error).all()
    assert gather(table, batch.states, batch.tokens).shape == (runs, 2, group, 1)
