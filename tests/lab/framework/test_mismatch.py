"""A sampler that differs from the learner: what the exact moments of its gradient must be."""

import math
from dataclasses import replace

import numpy as np

from grpo_ref.corrections import truncated
from grpo_ref.lab.framework.mismatch import drawn, moments
from grpo_ref.lab.framework.tasks.small_language import expected_reward_gradient
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import REINFORCE, slot

FULL = replace(REINFORCE, corrections=(slot(truncated, level=sequence_sum_level, max_ratio=math.inf),))


def test_the_full_weight_of_a_completion_leaves_no_bias_and_no_weight_does():
    case = drawn((0.5, 0.5), seeds=2, seed=3)
    learner, sampler = policy_of(case.logits), case.sampler(case.logits, case.size)
    exact = expected_reward_gradient(case.rewards, learner)
    for recipe, unbiased in ((FULL, True), (REINFORCE, False)):
        mean, variance = moments(recipe, case.rewards, learner, sampler)
        assert np.allclose(mean, exact, atol=1e-12) == unbiased
        assert (variance > 0.0).all()


def test_a_mismatch_of_no_size_is_none():
    case = drawn((0.5, 0.5), seeds=2, seed=3)
    assert np.array_equal(case.sampler(case.logits, 0.0).probs, policy_of(case.logits).probs)
